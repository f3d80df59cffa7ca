import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readPidFile } from './pid-file.ts';
import { SupervisedProcess, type SupervisedProcessOptions } from './supervised-process.ts';

let folder: string;
let supervised: SupervisedProcess[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'creditlane-supervised-'));
  supervised = [];
});
afterEach(async () => {
  await Promise.all(supervised.map((it) => it.stop([])));
  await rm(folder, { recursive: true });
});

/** Writes the file `ready` after its start, and then runs until it is stopped. */
const SERVING = `touch ready; exec sleep 60`;

function start(script: string, options: Partial<SupervisedProcessOptions> = {}) {
  const process = new SupervisedProcess({
    name: 'a test process',
    spawn: (): ChildProcess => spawn('sh', ['-c', script], { cwd: folder, detached: true }),
    probe: async () => existsSync(join(folder, 'ready')) || 'no file "ready"',
    readyWithinMs: 10_000,
    startError: (missing) => new Error(missing ?? 'the process ended'),
    restart: { baseMs: 10, capMs: 50 },
    // A process that takes longer to end by SIGTERM, also because the machine is busy, is killed.
    stopSignals: [{ signal: 'SIGTERM', waitMs: 60_000 }],
    ...options,
  });
  supervised.push(process);
  return process;
}

test('a process is ready once its probe is true, and its pid file names it', async () => {
  const pidFile = join(folder, 'pid');
  const process = start(SERVING, { pidFile });
  await process.ready();
  expect(process.readyPid).toBe(process.pid);
  expect(await readPidFile(pidFile)).toMatchObject({ pid: process.pid });
});

test('a process that ends by itself is started again under another pid', async () => {
  const restarts: string[] = [];
  const pidFile = join(folder, 'pid');
  const supervisor = start(SERVING, { pidFile, onRestart: () => restarts.push('restart') });
  await supervisor.ready();
  const first = supervisor.pid;
  process.kill(first, 'SIGKILL');
  await expect.poll(() => supervisor.readyPid).not.toBe(first);
  expect(supervisor.readyPid).toBe(supervisor.pid);
  expect(restarts).toHaveLength(1);
  expect(await readPidFile(pidFile)).toMatchObject({ pid: supervisor.pid });
});

test('a process that ends before it is ready rejects with the reason and is tried again', async () => {
  const supervisor = start('[ -e fixed ] || exit 3; touch ready; exec sleep 60');
  await expect(supervisor.ready()).rejects.toThrow('the process ended');
  await writeFile(join(folder, 'fixed'), '');
  await expect.poll(() => supervisor.readyPid).not.toBe(0);
});

test('a process that is not ready in time rejects with what is missing', async () => {
  await expect(start('exec sleep 60', { readyWithinMs: 100 }).ready()).rejects.toThrow(
    'no file "ready"',
  );
});

test('a probe that rejects makes the start fail with its error', async () => {
  const probe = () => Promise.reject(new Error('the password is refused'));
  await expect(start(SERVING, { probe }).ready()).rejects.toThrow('the password is refused');
});

test('a probe that rejects after a restart is logged', async () => {
  const lines: string[] = [];
  const log = createLog('test', { destination: { write: (line) => void lines.push(line) } });
  let served = false;
  const probe = async () => {
    if (served) throw new Error('the password is refused');
    served = true;
    return true as const;
  };
  const supervisor = start(SERVING, { probe, log });
  await supervisor.ready();
  process.kill(supervisor.pid, 'SIGKILL');
  await expect.poll(() => lines.join('')).toContain('a test process cannot be probed');
});

test('a process whose pid file cannot be written is ended before it is tried again', async () => {
  const spawned: ChildProcess[] = [];
  const supervisor = start(SERVING, {
    pidFile: join(folder, 'missing', 'pid'),
    spawn: () => {
      const child = spawn('sleep', ['60']);
      spawned.push(child);
      return child;
    },
  });
  await expect(supervisor.ready()).rejects.toThrow();
  await expect.poll(() => spawned.length).toBeGreaterThan(2);
  const ended = spawned.slice(0, -1).map(({ signalCode }) => signalCode);
  expect(ended).toEqual(ended.map(() => 'SIGKILL'));
});

test('a program that does not exist rejects', async () => {
  const nothing = () => spawn(join(folder, 'nothing'));
  const supervisor = start('', { spawn: nothing });
  await expect(supervisor.ready()).rejects.toThrow('the process ended');
  expect(supervisor.pid).toBe(0);
});

test('a stopped process ends by the first signal and is not started again', async () => {
  const supervisor = start(`trap 'touch stopped; exit 0' TERM; touch ready; sleep 60 & wait`);
  await supervisor.ready();
  const { pid } = supervisor;
  await supervisor.stop();
  expect(existsSync(join(folder, 'stopped'))).toBe(true);
  expect(supervisor.pid).toBe(pid);
});

test('a process that ignores the signals is killed after the last deadline', async () => {
  const supervisor = start(`trap '' TERM; touch ready; while true; do sleep 0.05; done`, {
    stopSignals: [{ signal: 'SIGTERM', waitMs: 100 }],
  });
  await supervisor.ready();
  await supervisor.stop();
  expect(() => process.kill(supervisor.pid, 0)).toThrow('ESRCH');
});

const OWNER = `
  import { spawn } from 'node:child_process';
  import { SupervisedProcess } from './supervised-process.ts';
  const script = 'trap "touch ended; exit 0" INT; touch ready; while true; do sleep 0.05; done';
  const supervised = new SupervisedProcess({
    name: 'a test process',
    spawn: () => spawn('sh', ['-c', script], { cwd: process.argv[1], detached: true }),
    probe: async () => true,
    readyWithinMs: 10_000,
    startError: () => new Error('not started'),
    restart: { baseMs: 10, capMs: 50 },
    stopSignals: [],
    exitSignal: 'SIGINT',
  });
  await supervised.ready();
  process.stdout.write('supervising');`;

test('a process whose supervisor is killed with its process group gets the exit signal', async () => {
  const flags = ['--input-type=module', '--eval', OWNER, folder];
  const owner = spawn(process.execPath, flags, {
    cwd: import.meta.dirname,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(owner.stdout, 'data');
  await expect.poll(() => existsSync(join(folder, 'ready'))).toBe(true);
  process.kill(-(owner.pid as number), 'SIGKILL');
  await expect.poll(() => existsSync(join(folder, 'ended'))).toBe(true);
});

test('a process that is stopped while it waits for its restart does not start', async () => {
  const restart = { baseMs: 60_000, capMs: 60_000 };
  const supervisor = start('exit 1', { restart });
  await expect(supervisor.ready()).rejects.toThrow('the process ended');
  const { pid } = supervisor;
  await supervisor.stop();
  expect(supervisor.pid).toBe(pid);
});
