import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HOST } from '@creditlane/local/host';
import { StartError } from '@creditlane/local/start-error';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { writePidFile } from '@creditlane/supervision/pid-file';
import type { Instance } from './instances.ts';
import { showLines } from './log-lines.ts';

export interface ServiceProcessOptions {
  instance: Instance;
  env: Record<string, string>;
  /** Marks the process for whoever comes next, should this one be killed. */
  pidFile?: string;
  log: Log;
  /** Takes the process's own log, for people. */
  write: (text: string) => void;
  /** Called when it has been started again, with another pid. */
  onRestart: () => void;
}

const SERVICES_DIR = fileURLToPath(new URL('../../services/', import.meta.url));
const WATCHDOG = new URL('../../tasks/parent-death-watchdog.mjs', import.meta.url).href;
const RESTART = { baseMs: 250, capMs: 10_000 };
/** Who ran this long and ends then has not failed at its start; the next try comes soon. */
const STABLE_MS = 30_000;
const READY_WITHIN_MS = 60_000;
const POLL_MS = 50;
/** Within what the process allows each of its closers. */
const STOP_WITHIN_MS = 8_000;

/** A service's process, started again whenever it ends by itself. */
export class ServiceProcess {
  readonly instance: Instance;
  readonly #options: ServiceProcessOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #child: ChildProcess;
  #failures = 0;

  constructor(options: ServiceProcessOptions) {
    this.instance = options.instance;
    this.#options = options;
    this.#child = this.#spawn();
    this.#running = this.#keepRunning();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves once it takes work. Throws `StartError` when it ends instead, or takes too long. */
  async ready(): Promise<void> {
    const { name, ports } = this.instance;
    const untilMs = performance.now() + READY_WITHIN_MS;
    for (;;) {
      const lacks = await whatIsLacking(`http://${HOST}:${ports.ops}/readyz`);
      if (lacks === undefined) return;
      if (this.#failures > 0) throw new StartError(`${name} could not start; its log says why.`);
      if (performance.now() > untilMs) throw new StartError(`${name} is not ready: ${lacks}`);
      await delay(POLL_MS);
    }
  }

  /** Asks it to end and, if it does not in time, ends it. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_WITHIN_MS);
    await this.#running;
    clearTimeout(timer);
  }

  async #keepRunning(): Promise<void> {
    const { log, pidFile, onRestart } = this.#options;
    const pause = new WakeSignal();
    for (;;) {
      const startedMs = performance.now();
      const ended = once(this.#child, 'exit');
      if (pidFile !== undefined) await writePidFile(pidFile, this.pid);
      const [code, signal] = await ended;
      if (this.#stop.signal.aborted) return;
      this.#failures = performance.now() - startedMs > STABLE_MS ? 1 : this.#failures + 1;
      const waitMs = backoffMs(this.#failures, RESTART);
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      log.warn(`${this.instance.name} ended ${how}; it starts again in ${Math.ceil(waitMs)} ms`);
      await pause.wait(waitMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      this.#child = this.#spawn();
      onRestart();
    }
  }

  #spawn(): ChildProcess {
    const { instance, env, write } = this.#options;
    const main = join(SERVICES_DIR, instance.service.name, 'main.ts');
    const flags = ['--disable-warning=ExperimentalWarning', '--import', WATCHDOG];
    const child = spawn(process.execPath, [...flags, main], {
      // A group of its own: Ctrl-C is for us, and it ends with us by the leash, however we end.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...env, CREDITLANE_LAUNCHER: String(process.pid) },
    });
    for (const said of [child.stdout, child.stderr]) {
      if (said !== null) showLines(instance.name, said, write);
    }
    return child;
  }
}

/** What keeps a process from taking work, in its own words; undefined once it does. */
async function whatIsLacking(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url);
    const text = await response.text();
    return response.ok ? undefined : text;
  } catch {
    return `nobody answers at ${url}`;
  }
}
