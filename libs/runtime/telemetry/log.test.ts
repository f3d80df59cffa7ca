import { spawnSync } from 'node:child_process';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createLog, type Log, type LogOptions } from './log.ts';

const CANARY = 'canary046454286';

function captured(write: (log: Log) => void, options: LogOptions = {}): string {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  write(createLog('decisions', { destination, ...options }));
  return lines.join('');
}

const parsed = (write: (log: Log) => void) => JSON.parse(captured(write));

/** An error of node-postgres that quotes a row in every field in which PostgreSQL quotes rows. */
function databaseError(code: string, message: string): Error {
  return Object.assign(new Error(message), {
    name: 'error',
    severity: 'ERROR',
    code,
    table: 'applicants',
    constraint: 'applicants_pkey',
    detail: `Key (sin)=(${CANARY}) already exists.`,
    hint: CANARY,
    where: `COPY applicants, line 1: "${CANARY}"`,
    internalQuery: `SELECT '${CANARY}'`,
    parameters: [CANARY],
    query: `INSERT … '${CANARY}'`,
    driverError: { detail: CANARY },
  });
}

function incomingMessage(): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.method = 'POST';
  request.url = `/v1/applications?sin=${CANARY}`;
  request.headers.authorization = `Bearer ${CANARY}`;
  return Object.assign(request, { body: { sin: CANARY }, rawBody: CANARY });
}

test('an entry has time, level, service, fields and message', () => {
  const line = parsed((log) => log.warn({ batch: 3, ids: ['a', 'b'], done: false }, 'slow batch'));
  expect(line).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    service: 'decisions',
    batch: 3,
    ids: ['a', 'b'],
    done: false,
    msg: 'slow batch',
  });
});

test('an entry of a child log has the bindings of its parents', () => {
  const line = parsed((log) => log.child({ requestId: 'r1' }).child({ shard: 2 }).info('relayed'));
  expect(line).toMatchObject({ requestId: 'r1', shard: 2, msg: 'relayed' });
});

test('an entry below the level is not written', () => {
  expect(captured((log) => log.info('quiet'), { level: 'warn' })).toBe('');
});

test('a database error is logged with its table and without its row', () => {
  const error = databaseError('23505', 'duplicate key value violates unique constraint "p"');
  expect(parsed((log) => log.error({ err: error }, 'write failed')).err).toEqual({
    name: 'error',
    message: 'duplicate key value violates unique constraint "p"',
    code: '23505',
    severity: 'ERROR',
    table: 'applicants',
    constraint: 'applicants_pkey',
    stack: expect.stringContaining('log.test.ts'),
  });
});

test('loggable errors and system errors are logged with message, cause and parts', () => {
  const fault = Object.assign(new Error('the submission is unknown'), {
    loggable: true,
    kind: 'not_found',
    code: 'submission_not_found',
    fields: [{ pointer: '/a', message: CANARY }],
  });
  const system = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
    port: 5432,
  });
  const error = new AggregateError([fault], CANARY, { cause: system });
  expect(parsed((log) => log.error({ err: error })).err).toMatchObject({
    name: 'AggregateError',
    cause: { message: 'connect ECONNREFUSED 127.0.0.1:5432', syscall: 'connect', port: 5432 },
    errors: [{ message: 'the submission is unknown', code: 'submission_not_found' }],
  });
});

test('an error that is its own cause is logged', () => {
  const error = new Error(CANARY);
  error.cause = error;
  expect(captured((log) => log.error({ err: error }, 'failed'))).toContain('"cause"');
});

const unparsable = (() => {
  try {
    return JSON.parse(CANARY) as Error;
  } catch (error) {
    return error as Error;
  }
})();
const invalidText = databaseError('22P02', `invalid input syntax for type uuid: "${CANARY}"`);
const smuggled = new Error(`first line\n    at ${CANARY} (file.ts:1:1)`);
const sealed = { nested: { deep: [CANARY] } };

test.each<[string, (log: Log) => void]>([
  ["a database error's message about a value", (log) => log.error({ err: invalidText }, 'failed')],
  ['an error in place of fields', (log) => log.error(invalidText)],
  ['an error under any name', (log) => log.error({ problem: invalidText }, 'failed')],
  ['an error as a value of the message', (log) => log.error('failed: %s', invalidText)],
  ['an error as the binding of a child', (log) => log.child({ err: invalidText }).error('failed')],
  ['the text that a parser could not parse', (log) => log.error({ err: unparsable }, 'failed')],
  ['a cause', (log) => log.error({ err: new Error('a', { cause: invalidText }) }, 'failed')],
  ['a cause that is not an Error', (log) => log.error({ err: new Error('a', { cause: CANARY }) })],
  ['parts of an error', (log) => log.error({ err: new AggregateError([invalidText], CANARY) })],
  ['a message in the form of a stack frame', (log) => log.error({ err: smuggled }, 'failed')],
  ['a thrown value that is not an Error', (log) => log.error({ err: { message: CANARY } })],
  ['a request in place of fields', (log) => log.info(incomingMessage(), 'answered')],
  ['a request', (log) => log.info({ req: incomingMessage() }, 'answered')],
  ['a request under any name', (log) => log.info({ incoming: incomingMessage() }, 'answered')],
  ['a body as text', (log) => log.info({ body: CANARY }, 'answered')],
  ['headers', (log) => log.info({ headers: { authorization: CANARY } }, 'answered')],
  ['a header as text', (log) => log.info({ Authorization: `Bearer ${CANARY}` }, 'answered')],
  ['parameters', (log) => log.info({ parameters: [CANARY], values: [CANARY] }, 'queried')],
  ['nested objects', (log) => log.info(sealed, 'kept')],
  ['objects in lists', (log) => log.info({ list: [sealed] }, 'kept')],
  ['bytes', (log) => log.info({ bytes: Buffer.from(CANARY) }, 'kept')],
  ['a map', (log) => log.info({ map: new Map([[CANARY, CANARY]]) }, 'kept')],
  ['an object in the message', (log) => log.info('kept %o %j', sealed, sealed)],
  ['bindings of a child', (log) => log.child({ headers: CANARY, sealed }).info('kept')],
  ["bindings of a child's child", (log) => log.child({}).child({ sealed }).info('kept')],
  [
    'bindings set later',
    (log) => {
      const child = log.child({});
      child.setBindings({ sealed });
      child.info('kept');
    },
  ],
])('no entry contains the contents of %s', (_, write) => {
  for (const pretty of [false, true]) {
    const line = captured(write, { pretty });
    expect(line).not.toBe('');
    expect(line).not.toContain(CANARY);
    expect(line).not.toContain(Buffer.from(CANARY).join(','));
  }
});

test('a readable line has the message first and the error below', () => {
  const cause = Object.assign(new Error('relation "x" does not exist'), { code: '42P01' });
  const error = new Error('hidden', { cause });
  const text = captured((log) => log.error({ err: error, shard: 2, why: 'a b' }, 'not relayed'), {
    pretty: true,
  });
  const [head, ...below] = text.split('\n');
  expect(head).toMatch(/^\d\d:\d\d:\d\d\.\d{3} ERROR decisions: not relayed shard=2 why="a b"$/);
  expect(below[0]).toBe('  Error');
  expect(below).toContainEqual('    Error: relation "x" does not exist code=42P01');
});

/** Runs a program that has a log until the program ends; returns its standard output. */
function outputOf(program: string): string {
  const source = `import { createLog } from ${JSON.stringify(LOG)};\nconst log = createLog('test');\n${program}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
  });
  return stdout;
}
const LOG = new URL('./log.ts', import.meta.url).href;

test.each([
  ['calls process.exit', 'process.exit(3)'],
  ['ends with an uncaught error', "throw new Error('no')"],
  ['ends normally', ''],
])('no entry is lost when the process %s', (_, end) => {
  const written = outputOf(`for (let n = 0; n < 5_000; n += 1) log.info({ n }, 'a line');\n${end}`);
  const lines = written.trim().split('\n');
  expect(lines).toHaveLength(5_000);
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ service: 'test', n: 4_999 });
});
