/**
 * Runs a program for as long as its owner needs it: a process that ends by itself is started again.
 * PostgreSQL, Kafka's brokers and the services of `npm run up` are run this way.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type BackoffBounds, backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { pause } from '@creditlane/runtime/concurrency/pause';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { signalAtOwnEnd } from './parent-death-watchdog.ts';
import { writePidFile } from './pid-file.ts';

export interface SupervisedProcessOptions {
  /** Names the process in log entries. */
  name: string;
  /** Starts the program; called again for each restart. The child should be `detached`: see `stop`. */
  spawn(): ChildProcess | Promise<ChildProcess>;
  /** Called repeatedly after each start. True once the process serves, else what is still missing. */
  probe(): Promise<true | string>;
  /** How long the probe may take to give true. */
  readyWithinMs: number;
  /**
   * The error with which `ready` rejects: `missing` is the last answer of `probe`, or undefined when
   * the process ended.
   */
  startError(missing: string | undefined): Error | Promise<Error>;
  /** The wait before a restart; it grows with each process that ends soon after its start. */
  restart: BackoffBounds;
  /** Sent in this order to stop the process, each with the time it has before the next; then SIGKILL. */
  stopSignals: readonly StopSignal[];
  /** Sent when this process ends without having called `stop`: after an uncaught error, and by SIGKILL. */
  exitSignal?: NodeJS.Signals;
  /** Written for each start; see `killFromPidFile`. */
  pidFile?: string;
  log?: Log | undefined;
  /** Called when the process was started again, with another pid. */
  onRestart?(): void;
}

export interface StopSignal {
  signal: NodeJS.Signals;
  waitMs: number;
}

/** A process that ran for this long did not fail at its start: the next restart comes soon. */
const STABLE_MS = 30_000;
const PROBE_EVERY_MS = 50;

export class SupervisedProcess {
  readonly #options: SupervisedProcessOptions;
  readonly #stopping = new AbortController();
  readonly #firstStart = Promise.withResolvers<void>();
  readonly #supervision: Promise<void>;
  #child: ChildProcess | undefined;
  #readyPid = 0;
  #hasFailed = false;

  /** Starts the program at once; see `ready`. */
  constructor(options: SupervisedProcessOptions) {
    this.#options = options;
    // A failed start is logged, so a caller that does not await `ready` gets no unhandled rejection.
    this.#firstStart.promise.catch(() => undefined);
    this.#supervision = this.#supervise();
  }

  /** The process's id at present; 0 when the program could not be started. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** The id of the last process that became ready: changes only once a restarted process serves. */
  get readyPid(): number {
    return this.#readyPid;
  }

  /**
   * Resolves once the first process serves. Rejects with `startError` when it ends before or is not
   * ready in time, and with whatever `probe` rejects with. The caller then calls `stop`.
   */
  ready(): Promise<void> {
    return this.#firstStart.promise;
  }

  /**
   * Stops the process and resolves once it has ended; it is not started again. Ctrl-C reaches the
   * whole process group of a terminal, so a child that is to end in order belongs to a group of its own.
   */
  async stop(signals = this.#options.stopSignals): Promise<void> {
    this.#stopping.abort();
    const deadlines = new AbortController();
    const escalation = this.#escalate(signals, deadlines.signal);
    await this.#supervision;
    deadlines.abort();
    await escalation;
  }

  async #escalate(signals: readonly StopSignal[], ended: AbortSignal): Promise<void> {
    for (const { signal, waitMs } of signals) {
      if (ended.aborted) return;
      this.#child?.kill(signal);
      await pause(waitMs, ended);
    }
    if (!ended.aborted) this.#child?.kill('SIGKILL');
  }

  async #supervise(): Promise<void> {
    const { name, log, restart, onRestart } = this.#options;
    const stop = this.#stopping.signal;
    for (let failures = 0; !stop.aborted; ) {
      const startedMs = performance.now();
      const ending = await this.#run(failures > 0 ? onRestart : undefined);
      if (stop.aborted) return;
      failures = performance.now() - startedMs > STABLE_MS ? 1 : failures + 1;
      const waitMs = backoffMs(failures, restart);
      log?.warn(`${name} ended ${ending}; it starts again in ${waitMs} ms`);
      await pause(waitMs, stop);
    }
  }

  /** Starts the program, resolves once it has ended, and says how it ended. */
  async #run(onStarted?: () => void): Promise<string> {
    const { spawn, pidFile, exitSignal } = this.#options;
    const ended = new AbortController();
    let ending = '';
    let endWatch = () => {};
    let exit: Promise<[number | null, string | null]> | undefined;
    try {
      const child = await spawn();
      exit = once(child, 'exit') as Promise<[number | null, string | null]>;
      this.#child = child;
      if (exitSignal !== undefined && child.pid !== undefined) {
        endWatch = signalAtOwnEnd(child.pid, exitSignal);
      }
      // Stopped during `spawn`: there was no process yet that `stop` could have signalled.
      if (this.#stopping.signal.aborted) child.kill('SIGKILL');
      if (pidFile !== undefined && child.pid !== undefined) await writePidFile(pidFile, child.pid);
      onStarted?.();
      void this.#waitUntilReady(this.pid, ended.signal);
      const [code, signal] = await exit;
      ending = signal === null ? `with code ${code}` : `by ${signal}`;
    } catch (error) {
      // The program could not be started, or a process runs that the next start could not find: its pid is not written.
      if (this.#child?.pid !== undefined && this.#child.kill('SIGKILL')) await exit;
      ending = `before it ran (${(error as NodeJS.ErrnoException).code ?? error})`;
    }
    endWatch();
    ended.abort();
    await this.#failFirstStart(undefined);
    return ending;
  }

  /** Makes `ready` reject; without effect once it has resolved or rejected. */
  async #failFirstStart(missing: string | undefined): Promise<void> {
    if (this.#readyPid !== 0 || this.#hasFailed) return;
    this.#hasFailed = true;
    try {
      this.#firstStart.reject(await this.#options.startError(missing));
    } catch (error) {
      this.#firstStart.reject(error);
    }
  }

  /**
   * Probes the process until it serves, ends or is late. A restarted process that is late is left
   * running: what it waits for, such as another broker, may come back later.
   */
  async #waitUntilReady(pid: number, ended: AbortSignal): Promise<void> {
    const { name, log, probe, readyWithinMs } = this.#options;
    const untilMs = performance.now() + readyWithinMs;
    try {
      for (;;) {
        const state = await probe();
        if (ended.aborted) return;
        if (state === true) break;
        if (performance.now() > untilMs) {
          log?.error(`${name} is not ready after ${readyWithinMs} ms: ${state}`);
          return await this.#failFirstStart(state);
        }
        await pause(PROBE_EVERY_MS, ended);
        if (ended.aborted) return;
      }
      this.#readyPid = pid;
      this.#firstStart.resolve();
    } catch (error) {
      if (ended.aborted) return;
      // `ready` has resolved before a restart, so that only the log can tell.
      if (this.#readyPid !== 0) log?.error({ err: error }, `${name} cannot be probed`);
      this.#firstStart.reject(error);
    }
  }
}
