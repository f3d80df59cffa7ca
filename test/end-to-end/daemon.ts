/** Long-running programs of end-to-end tests: each logs to a file, is awaited until it serves, and is stopped by its id. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../programs/run.ts';

export interface DaemonOptions {
  name: string;
  command: string;
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Called every quarter of a second; true once the program serves. */
  isReady(): Promise<boolean>;
}

const READY_WITHIN_MS = 120_000;
/** Docker's engine ends after its containers, which compose.yaml gives 40 s. */
const STOP_WITHIN_MS = 60_000;
const QUOTED_LINES = 15;

/** The programs that were started, which end in the reverse order of their start. */
export class Daemons {
  readonly #logDir: string;
  readonly #running: { name: string; child: ChildProcess }[] = [];

  constructor(logDir: string) {
    this.#logDir = logDir;
  }

  /** Resolves once the program serves. Throws an Error with the end of its log when it ends or is late. */
  async start({ name, command, args, env, isReady }: DaemonOptions): Promise<void> {
    const logFile = join(this.#logDir, `${name}.log`);
    const log = openSync(logFile, 'a');
    const child = spawn(command, args, {
      stdio: ['ignore', log, log],
      ...(env !== undefined && { env }),
    });
    closeSync(log);
    child.on('error', () => undefined); // The log is empty, and `isReady` stays false.
    this.#running.push({ name, child });
    const untilMs = performance.now() + READY_WITHIN_MS;
    while (!(await isReady().catch(() => false))) {
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (hasEnded || child.pid === undefined || performance.now() > untilMs) {
        const lines = (await readFile(logFile, 'utf8')).trim().split('\n').slice(-QUOTED_LINES);
        throw new Error(`${name} ${hasEnded ? 'ended' : 'is not ready'}:\n${lines.join('\n')}`);
      }
      await delay(250);
    }
  }

  async stopAll(): Promise<void> {
    for (const { child } of this.#running.splice(0).reverse()) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      await ended;
      clearTimeout(timer);
    }
  }
}

/** Whether a server answers with a success. */
export async function answersOk(url: string): Promise<boolean> {
  return (await fetch(url)).ok;
}

/** Whether a program of Kubernetes is healthy. Its certificate is made by itself at each start. */
export async function isHealthy(port: number, path = 'healthz'): Promise<boolean> {
  return (await run('curl', ['-sk', `https://127.0.0.1:${port}/${path}`])) === 'ok';
}

/** `--name=value` for each entry. */
export function flags(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`);
}
