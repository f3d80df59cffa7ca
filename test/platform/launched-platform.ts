import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Demo } from '@creditlane/local/demo';
import { readJson } from '@creditlane/local/json-file';
import { eventually } from './eventually.ts';

const DEPLOY = new URL('../../deploy/', import.meta.url);

/** What a person can start: everything in one process, or each service in its own. */
export type Start = 'local/main.ts' | 'processes/up.ts';

/** Creditlane started as a person starts it: a process of its own on a data directory. */
export class LocalPlatform {
  readonly #child: ChildProcess;
  readonly #dataDir: string;
  #output = '';

  constructor(
    dataDir: string,
    args: string[] = ['--port', '0'],
    start: Start = 'local/main.ts',
    env: NodeJS.ProcessEnv = {},
  ) {
    this.#dataDir = dataDir;
    const main = fileURLToPath(new URL(start, DEPLOY));
    this.#child = spawn(process.execPath, [main, '--data-dir', dataDir, ...args], {
      // A group of its own, so that a test can kill it whole.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** All that it printed so far. */
  get output(): string {
    return this.#output;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What demo.json says, once it is ready. */
  async ready(timeoutMs = 60_000): Promise<Demo> {
    return eventually(
      'demo.json',
      async () => {
        if (!this.running) throw new Error(`it ended instead of starting:\n${this.#output}`);
        return readJson<Demo>(join(this.#dataDir, 'demo.json'));
      },
      timeoutMs,
    );
  }

  /** Sends a signal to the whole group, waits for the end, and gives the exit code. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    if (this.running && this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    return this.ended();
  }

  async ended(): Promise<number | null> {
    if (this.running) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }
}

/** The command lines of the processes that name a directory. */
export async function processesIn(dir: string): Promise<string[]> {
  const found = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(dir)) found.push(line);
  }
  return found;
}
