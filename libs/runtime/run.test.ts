import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { compiledModules } from './compiled-modules.ts';
import type { RunOptions } from './run.ts';

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** A child process whose start is `body`, which can use `config`, `life` and `hold`. */
function startProcess(
  body: string,
  env: Record<string, string> = {},
  args: string[] = [],
  options: RunOptions = {},
): Child {
  const source = `
    import { run } from './run.ts';
    import { setting } from './setting.ts';
    import { LoggableError } from './telemetry/loggable-error.ts';
    const settings = { port: setting.integer('PORT', { about: 'A port.' }) };
    const hold = (life) => {
      const timer = setInterval(() => {}, 60_000);
      life.closers.add('timer', () => clearInterval(timer));
    };
    const start = async (config, life) => { ${body} };
    await run('sample', settings, start, ${JSON.stringify(options)});
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source, '--', ...args], {
    cwd: import.meta.dirname,
    env: { ...compiledModules(), PORT: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

interface Line {
  level: string;
  msg: string;
  err?: { name: string };
}

async function end(child: Child): Promise<{ code: number; lines: Line[]; errors: string }> {
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  return { code, lines: lines.map((line) => JSON.parse(line)), errors };
}

/** Sends each signal after the log entry with its message; returns how the process ended. */
async function signalled(child: Child, script: [message: string, signal: NodeJS.Signals][]) {
  const exited = once(child, 'exit');
  const messages: string[] = [];
  const steps = [...script];
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg } = JSON.parse(line) as Line;
    messages.push(msg);
    const [step] = steps;
    if (step?.[0] === msg) {
      steps.shift();
      child.kill(step[1]);
    }
  }
  const [code] = await exited;
  return { code, messages };
}

test('--check with a valid configuration: exit code 0, and nothing starts', async () => {
  const child = startProcess('process.exit(9);', {}, ['--check']);
  const [output, { code }] = await Promise.all([
    text(child.stdout),
    once(child, 'exit').then(([code]) => ({ code })),
  ]);
  expect([code, output]).toEqual([0, 'configuration ok\n']);
});

test('--check lists every error of the configuration, also of the runtime’s own settings', async () => {
  const child = startProcess('', { PORT: 'x', LOG_LEVEL: 'loud' }, ['--check']);
  const { code, errors } = await end(child);
  expect(code).toBe(1);
  expect(errors.trim().split('\n')).toEqual([
    'PORT: must be a whole number',
    expect.stringMatching(/^LOG_LEVEL: must be one of/),
  ]);
});

test('a configuration that is not valid: one fatal log entry and exit code 1', async () => {
  const { code, lines, errors } = await end(startProcess('', { PORT: '' }));
  expect([code, errors]).toEqual([1, '']);
  expect(lines).toMatchObject([{ level: 'fatal', msg: 'cannot start: PORT: missing' }]);
});

test('the new text of a file that is refused is logged with the path, and without the text', async () => {
  const body = `
    const { refuse } = await import('./env.ts');
    const { renewedFile } = await import('./renewed-file.ts');
    const parse = () => refuse('a key');
    renewedFile('package.json', parse, { text: 'before', value: 1 }, 0)();
    process.exit(0);
  `;
  const { lines } = await end(startProcess(body));
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      path: 'package.json',
      err: expect.objectContaining({ message: 'must be a key' }),
    }),
  );
  expect(JSON.stringify(lines)).not.toContain('@creditlane/runtime');
});

test('after a signal everything closes, and the exit code is 0', async () => {
  const body = `
    life.health.add('sample', () => true);
    life.closers.add('probe', () => life.log.info(life.health.ready().checks, 'closing'));
    hold(life);
  `;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { code, messages } = await signalled(startProcess(body), [['started', signal]]);
    expect(messages).toEqual(['started', 'stopping', 'closing', 'stopped']);
    expect(code).toBe(0);
  }
});

test('the process is not ready before the first part closes', async () => {
  const body = `
    life.closers.add('probe', () => life.log.info('ready: ' + life.health.ready().ready));
    hold(life);
  `;
  const { messages } = await signalled(startProcess(body), [['started', 'SIGTERM']]);
  expect(messages).toEqual(['started', 'stopping', 'ready: false', 'stopped']);
});

test('a running process waits for the drain time before it closes', async () => {
  const drainMs = 200;
  const body = `
    const { drain } = life.health;
    let drainedMs;
    life.health.drain = () => { drainedMs = performance.now(); drain.call(life.health); };
    life.closers.add('probe', () => life.log.info('waited ' + (performance.now() - drainedMs)));
    hold(life);
  `;
  const child = startProcess(body, { DRAIN_TIME: `${drainMs}ms` });
  const { code, messages } = await signalled(child, [['started', 'SIGTERM']]);
  const waited = messages.find((message) => message.startsWith('waited ')) ?? '';
  expect(code).toBe(0);
  // Node's timers may fire up to a millisecond early.
  expect(Number(waited.slice('waited '.length))).toBeGreaterThanOrEqual(drainMs - 1);
});

test.each<[NodeJS.Signals, NodeJS.Signals]>([
  ['SIGTERM', 'SIGTERM'],
  ['SIGTERM', 'SIGINT'],
  ['SIGINT', 'SIGTERM'],
])('after %s, %s changes nothing', async (first, second) => {
  const body = `
    let signals = 0;
    const both = new Promise((resolve) => {
      const count = () => { signals += 1; if (signals === 2) resolve(); };
      process.on('SIGTERM', count).on('SIGINT', count);
    });
    life.closers.add('slow', () => both);
    hold(life);
  `;
  const { code, messages } = await signalled(startProcess(body), [
    ['started', first],
    ['stopping', second],
  ]);
  expect([code, messages]).toEqual([0, ['started', 'stopping', 'stopped']]);
});

test('after a second SIGINT the process exits at once', async () => {
  const body = `life.closers.add('stuck', () => new Promise(() => {})); hold(life);`;
  const { code, messages } = await signalled(startProcess(body), [
    ['started', 'SIGINT'],
    ['stopping', 'SIGINT'],
  ]);
  expect([code, messages]).toEqual([130, ['started', 'stopping']]);
});

test('a signal during the start stops the start, and parts opened later close', async () => {
  const body = `
    hold(life);
    life.log.info('opening');
    await new Promise((resolve) => life.closers.add('early', resolve));
    life.closers.add('late', () => life.log.info('late closed'));
  `;
  const { code, messages } = await signalled(startProcess(body), [['opening', 'SIGTERM']]);
  expect([code, messages]).toEqual([0, ['opening', 'stopping', 'late closed', 'stopped']]);
});

test('a failed start is logged, opened parts close, and the exit code is 1', async () => {
  const body = `
    life.closers.add('probe', () => life.log.info('closing'));
    hold(life);
    throw new Error('the data directory is gone');
  `;
  const { code, lines } = await end(startProcess(body));
  expect(code).toBe(1);
  expect(lines).toMatchObject([
    { level: 'fatal', msg: 'cannot start: the data directory is gone', err: { name: 'Error' } },
    { msg: 'closing' },
  ]);
});

test('a failed closer is logged, and the exit code is 1', async () => {
  const body = `life.closers.add('pool', () => { throw new Error('gone'); }); hold(life);`;
  const { code, messages } = await signalled(startProcess(body), [['started', 'SIGTERM']]);
  expect([code, messages]).toEqual([
    1,
    ['started', 'stopping', 'not everything closed', 'stopped'],
  ]);
});

test('a process that does not close within `closeWithinMs` ends with exit code 1', async () => {
  const body = `life.closers.add('pool', () => new Promise(() => {})); hold(life);`;
  const child = startProcess(body, {}, [], { closeWithinMs: 100 });
  const { code, messages } = await signalled(child, [['started', 'SIGTERM']]);
  expect([code, messages]).toEqual([1, ['started', 'stopping', 'not everything closed in time']]);
});

test('a process has longer than `closeWithinMs` where a part needs longer than others', async () => {
  const body = `
    const close = () => new Promise((resolve) => setTimeout(resolve, 300));
    life.closers.add('pulls', close, 20_000);
    hold(life);`;
  const child = startProcess(body, {}, [], { closeWithinMs: 100 });
  const { code, messages } = await signalled(child, [['started', 'SIGTERM']]);
  expect([code, messages]).toEqual([0, ['started', 'stopping', 'stopped']]);
});

test.each([
  ['an exception', `setImmediate(() => { throw new TypeError('x'); }); hold(life);`],
  ['a rejection', `setImmediate(() => Promise.reject(new TypeError('x'))); hold(life);`],
])('after %s that is not caught, the exit code is 1', async (_, body) => {
  const { code, lines } = await end(startProcess(body));
  expect(code).toBe(1);
  expect(lines.at(-1)).toMatchObject({ level: 'fatal', err: { name: 'TypeError' } });
});

test('a process whose log nobody reads any more goes on, and ends by SIGTERM', async () => {
  const child = startProcess(`
    hold(life);
    const log = () => life.log.info('still here');
    life.closers.add('log', () => process.stderr.write('closed'));
    setInterval(() => process.stderr.write('alive '), 20);
    for (let line = 0; line < 100; line += 1) log();
    setInterval(log, 1);
  `);
  await once(child.stdout, 'data');
  child.stdout.destroy();
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (said: string) => {
    errors += said;
  });
  await expect.poll(() => errors).toMatch(/(alive ){3}/);
  const ended = once(child, 'close');
  child.kill('SIGTERM');
  expect((await ended)[0]).toBe(0);
  expect(errors).toMatch(/alive closed/);
});

test('a command logs to standard error, and not that it has started', async () => {
  const body = `process.stdout.write('a result'); life.log.info('at work');`;
  const child = startProcess(body, {}, [], { isCommand: true });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(output).toBe('a result');
  expect(
    errors
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg),
  ).toEqual(['at work']);
});

test('a command that fails says why, and not that it cannot start', async () => {
  const body = `throw new LoggableError('there is no such event');`;
  const child = startProcess(body, {}, [], { isCommand: true });
  const errors = await text(child.stderr);
  expect(JSON.parse(errors)).toMatchObject({ level: 'fatal', msg: 'there is no such event' });
});

test('a command goes on when nobody reads its results any more', async () => {
  const body = `
    for (let line = 0; line < 5_000; line += 1) process.stdout.write('result '.repeat(20));
    await new Promise((resolve) => setTimeout(resolve, 300));
    process.stdout.write('one more');
    life.log.info('all done');
  `;
  const child = startProcess(body, {}, [], { isCommand: true });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect([JSON.parse(errors).msg, code]).toEqual(['all done', 0]);
});

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)(
  'a command that %s ends before its work is done closes everything and exits with %i',
  async (signal, exitCode) => {
    const body = `
      life.closers.add('part', () => process.stderr.write('closed'));
      process.stdout.write('at work');
      await new Promise(() => setInterval(() => {}, 60_000));
    `;
    const child = startProcess(body, {}, [], { isCommand: true });
    child.stdout.once('data', () => child.kill(signal));
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(errors).toMatch(/closed/);
    expect(code).toBe(exitCode);
  },
);

test('a command whose work is done when SIGTERM arrives exits with its own code', async () => {
  const body = `
    process.exitCode = 1;
    setInterval(() => {}, 60_000);
    setImmediate(() => process.stdout.write('done'));
  `;
  const child = startProcess(body, {}, [], { isCommand: true });
  child.stdout.once('data', () => child.kill('SIGTERM'));
  expect(await once(child, 'exit')).toEqual([1, null]);
});
