import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Demo } from '@creditlane/local/demo/demo';
import { readJson } from '@creditlane/local/json-file';
import { eventually } from './eventually.ts';

const DEPLOY = new URL('../../deploy/', import.meta.url);
const WATCHDOG = new URL('../../tasks/parent-death-watchdog.mjs', import.meta.url).href;

/** The programs of `npm start` and `npm run up`, below deploy/. */
export type Program = 'local/main.ts' | 'processes/up.ts';

export interface LaunchOptions {
  dataDir: string;
  program: Program;
  /** Command-line arguments besides --data-dir. The default chooses free ports. */
  args?: string[];
  /** Environment variables besides those of the test run. */
  env?: NodeJS.ProcessEnv;
}

/** Creditlane launched as a person launches it: a child process on a data directory. */
export class LaunchedPlatform {
  readonly #child: ChildProcess;
  readonly #dataDir: string;
  #output = '';

  constructor({ dataDir, program, args = ['--port', '0'], env = {} }: LaunchOptions) {
    this.#dataDir = dataDir;
    const main = fileURLToPath(new URL(program, DEPLOY));
    const flags = ['--disable-warning=ExperimentalWarning', '--import', WATCHDOG];
    this.#child = spawn(process.execPath, [...flags, main, '--data-dir', dataDir, ...args], {
      // A process group of its own, so that `stop` can signal the program and all its children.
      detached: true,
      // The channel is for the watchdog, which ends the program when the test run is killed.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, CREDITLANE_LAUNCHER: String(process.pid), ...env },
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

  /** Everything printed so far, stdout and stderr together. */
  get output(): string {
    return this.#output;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves with the content of demo.json, which the program writes when the platform is ready. */
  async ready(timeoutMs = 240_000): Promise<Demo> {
    return eventually(
      'demo.json',
      async () => {
        if (!this.running) {
          throw new Error(`the platform ended before it was ready:\n${this.#output}`);
        }
        return readJson<Demo>(join(this.#dataDir, 'demo.json'));
      },
      timeoutMs,
    );
  }

  /** Sends a signal to the whole process group and resolves with the exit code once it ended. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    if (this.running && this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    return this.ended();
  }

  /** Resolves with the exit code; null when a signal ended the process. */
  async ended(): Promise<number | null> {
    if (this.running) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }
}

/** The command lines of all running processes that contain a directory's path. */
export async function listProcessesUsing(dir: string): Promise<string[]> {
  const all = process.platform === 'linux' ? await readFromProc() : await readFromPs();
  return all.filter((commandLine) => commandLine.includes(dir));
}

/** Not every Linux has ps(1). */
async function readFromProc(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
}

async function readFromPs(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'args=']);
  return stdout.split('\n');
}
