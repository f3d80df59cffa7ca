/** The life of a process: configuration, start, signals, end. */
import { setTimeout as delay } from 'node:timers/promises';
import { Closers } from './closers.ts';
import { withTimeLimit } from './concurrency/time-limit.ts';
import { ConfigError, type Env } from './env.ts';
import { Health } from './health.ts';
import { type RefusedRenewal, refusedRenewals } from './renewed-file.ts';
import { readSettings, type Settings, type SettingValues, setting } from './setting.ts';
import { loggableMessage } from './telemetry/error-fields.ts';
import { createLog, type Log, type LogOptions } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { startTracing, TRACING } from './telemetry/tracing.ts';

/** How long a process may take to close after its signal and `DRAIN_TIME`; `Closers.extraMs` comes on top of it. */
export const CLOSE_DEADLINE_MS = 20_000;
/** How long a shutdown waits for a start that is still under way. */
const START_GRACE_MS = 2_000;
/** 128 and the signal's number, as shells report a process that a signal has ended. */
const EXIT_SIGNALLED = { SIGINT: 130, SIGTERM: 143 } as const;

/** What every part of a process shares. */
export interface Process {
  log: Log;
  metrics: Metrics;
  closers: Closers;
  health: Health;
}

export interface RunOptions {
  /** Values for variables that the environment does not set. */
  defaults?: Env;
  /** In place of CLOSE_DEADLINE_MS. */
  closeWithinMs?: number;
  /**
   * The process does no more than its start, and may print results: its log goes to standard error, and it goes on when nobody
   * reads the results any more, as with `| head`.
   */
  isCommand?: boolean;
}

/**
 * The main function of every process: reads its settings and those of `PROCESS`, starts, and handles the shutdown. `env` is
 * for a launcher, which passes variables on.
 *
 * With the argument `--check` it only prints whether the settings are valid. After SIGTERM or SIGINT
 * the process is not ready, waits `DRAIN_TIME` for load balancers to notice, and closes everything. A
 * second SIGINT exits at once; any other further signal changes nothing. After a failed start, a failed closer or an uncaught error the exit code
 * is 1. A command that a signal ends before its work is done exits with 128 and the signal's number, because 0 would report the work as done.
 */
export async function run<S extends Settings>(
  name: string,
  settings: S,
  start: (values: SettingValues<S>, process: Process, env: Env) => Promise<void>,
  { defaults = {}, closeWithinMs = CLOSE_DEADLINE_MS, isCommand = false }: RunOptions = {},
): Promise<void> {
  const checkOnly = process.argv.includes('--check');
  const logTo: LogOptions = isCommand ? { destination: 'stderr' } : {};
  const env = { ...defaults, ...process.env };
  const read = readAll(env, settings);
  if (read instanceof ConfigError) {
    if (checkOnly) process.stderr.write(`${read.message}\n`);
    else createLog(name, logTo).fatal(`cannot start: ${read.problems.join('; ')}`);
    process.exitCode = 1;
    return;
  }
  if (checkOnly) {
    process.stdout.write('configuration ok\n');
    return;
  }
  const { own, ofProcess } = read;
  const life: Process = {
    log: createLog(name, {
      ...logTo,
      level: ofProcess.logLevel,
      pretty: ofProcess.logFormat === 'pretty',
    }),
    metrics: new Metrics({ processFigures: true }),
    closers: new Closers(),
    health: new Health(),
  };
  refusedRenewals.subscribe((refused) => {
    const { path, err } = refused as RefusedRenewal;
    life.log.warn(
      { path, err },
      'the new text of a setting’s file is refused; the last value stays',
    );
  });
  if (isCommand) process.stdout.on('error', ignoreClosedPipe);
  const { drainMs } = ofProcess;
  await live(life, { drainMs, closeWithinMs, isCommand }, async () => {
    // Opened first, so that tracing closes last and exports the spans of all other parts.
    await startTracing(ofProcess.tracing, name, life);
    await start(own, life, env);
  });
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

async function live(
  life: Process,
  {
    drainMs,
    closeWithinMs,
    isCommand,
  }: Required<Omit<RunOptions, 'defaults'>> & { drainMs: number },
  start: () => Promise<void>,
): Promise<void> {
  const { log, health } = life;
  const state: { now: 'starting' | 'running' | 'stopping' } = { now: 'starting' };
  health.add('startup', () => state.now !== 'starting' || 'starting');

  // After an uncaught error the state of the process is unknown, so the process exits without closing
  // anything. Node reports unhandled rejections here, too.
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'uncaught error');
    process.exit(1);
  });

  // A later microtask, so that the signal handlers are installed before the start begins.
  const started = Promise.resolve().then(start);
  let interruptions = 0;
  const stop = async (signal: keyof typeof EXIT_SIGNALLED) => {
    if (signal === 'SIGINT') interruptions += 1;
    if (state.now === 'stopping') {
      // SIGTERM comes from programs, perhaps from two. Two SIGINT are a person's, who does not want to wait.
      if (interruptions > 1) process.exit(EXIT_SIGNALLED.SIGINT);
      return;
    }
    const servesNow = state.now === 'running';
    state.now = 'stopping';
    log.info({ signal }, 'stopping');
    health.drain();
    if (servesNow) await delay(drainMs);
    const exitCode = await closeAll(life, started, closeWithinMs);
    log.info('stopped');
    if (!isCommand || exitCode !== 0) process.exit(exitCode);
    // A command that has started has done its work.
    process.exit(servesNow ? process.exitCode : EXIT_SIGNALLED[signal]);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));

  try {
    await started;
  } catch (error) {
    // During a shutdown the error of the start does not matter: the shutdown ends the process.
    if (state.now === 'stopping') return;
    state.now = 'stopping';
    logFailedStart(log, error, isCommand ? '' : 'cannot start: ');
    await closeAll(life, started, closeWithinMs);
    process.exit(1);
  }
  if (state.now !== 'starting') return;
  state.now = 'running';
  if (!isCommand) log.info('started');
}

/** Closes everything, also parts that a start still under way opens later; returns the exit code. */
async function closeAll(
  { log, closers }: Process,
  started: Promise<void>,
  closeWithinMs: number,
): Promise<number> {
  const deadlineMs = closeWithinMs + closers.extraMs;
  const deadline = setTimeout(() => {
    log.error({ deadlineMs }, 'not everything closed in time');
    process.exit(1);
  }, deadlineMs);
  try {
    await closers.close();
    const makeError = () => new Error('the start did not notice the shutdown');
    await withTimeLimit(started, { limitMs: START_GRACE_MS, makeError }).catch(() => {});
    await closers.close();
    return 0;
  } catch (error) {
    log.error({ err: error }, 'not everything closed');
    return 1;
  } finally {
    clearTimeout(deadline);
  }
}

function logFailedStart(log: Log, error: unknown, prefix: string): void {
  if (!(error instanceof Error)) {
    log.fatal({ err: error }, `${prefix}something was thrown that is no error`);
  } else if (loggableMessage(error) !== undefined) {
    // An error with a loggable message is meant for operators, who need no stack.
    log.fatal(`${prefix}${error.message}`);
  } else {
    // The message may be logged, because a process has no caller's data before its start.
    log.fatal({ err: error }, `${prefix}${error.message}`);
  }
}

/** The settings of every process. */
export const PROCESS = {
  logLevel: setting.oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace'], {
    default: 'info',
    about: 'The lowest level that is logged; `debug` shows every call.',
  }),
  logFormat: setting.oneOf('LOG_FORMAT', ['json', 'pretty'], {
    default: 'json',
    about: 'JSON for programs, or lines for people.',
  }),
  drainMs: setting.durationMs('DRAIN_TIME', {
    default: '0ms',
    max: '60s',
    about:
      'How long a process still answers after it became unready, so that load balancers notice.',
  }),
  tracing: TRACING,
};

/** The settings of the program and those of every process, or what is wrong with any of them. */
function readAll<S extends Settings>(env: Env, settings: S) {
  try {
    return readSettings(env, { own: setting.all(settings), ofProcess: setting.all(PROCESS) });
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}
