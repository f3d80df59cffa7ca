/** One broker of an embedded Kafka: how its folder is prepared, when it is ready, how it is stopped. */
import { type ChildProcess, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { lastErrorLine, spawnLogged } from '@creditlane/supervision/logged-child';
import { killFromPidFile } from '@creditlane/supervision/pid-file';
import { SupervisedProcess } from '@creditlane/supervision/supervised-process';

const run = promisify(execFile);

/** For a short start: one garbage collector thread, no second compiler. */
const SMALL = ['-Xms64m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
/** For throughput after a warm-up, as on a server that runs nothing else. */
const LARGE = ['-Xms1g', '-Xmx1g', '-XX:+UseG1GC'];
/** A broker whose threads end one by one without memory would neither serve nor be started again. */
const ENDS_WITHOUT_MEMORY = '-XX:+ExitOnOutOfMemoryError';
const LOG_OPTIONS = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
];
/** Logged by KafkaRaftServer. */
const READY_LINE = 'Kafka Server started';
/** Five seconds as a rule, but more than a minute beside programs that keep all processors busy. */
const READY_WITHIN_MS = 180_000;
const RESTART = { baseMs: 250, capMs: 10_000 };
/** A broker that lost the other brokers cannot shut down in order; a kill loses nothing. */
const STOP_WITHIN_MS = 3_000;

/** In the broker's folder. */
const PID_FILE = 'broker.pid';

export class KafkaBrokerError extends LoggableError {}

export interface BrokerOptions {
  folder: string;
  classpath: string;
  /** The option for java that maps an archive of classes, or makes one when the broker ends. */
  classArchive: string;
  clusterId: string;
  properties: Record<string, string | number>;
  /**
   * Users with passwords that a new folder begins with, as `StorageTool --add-scram` takes them. Only for
   * tests: the command line that makes the users shows the passwords.
   */
  scramUsers?: readonly string[];
  /** Whether the broker gets the memory and the compilers of a server; else it starts soon. */
  isLarge?: boolean;
  /** How long the broker may take to end in order before it is killed. */
  stopWithinMs?: number;
  log?: Log | undefined;
}

export interface Broker {
  /** SIGTERM moves the leadership of partitions to other brokers first; SIGKILL is a crash. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Kills the broker that a killed process left running on its folder. Resolves to whether there was one. */
export function killLeftoverBroker(folder: string): Promise<boolean> {
  return killFromPidFile(join(folder, PID_FILE));
}

/**
 * Formats the broker's folder if it is new, and resolves once the broker serves. A broker that ends by
 * itself is started again on its folder. Throws `KafkaBrokerError` when the first start fails.
 */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { folder, stopWithinMs = STOP_WITHIN_MS, log } = options;
  const stopSignals = [{ signal: 'SIGTERM', waitMs: stopWithinMs }] as const;
  await mkdir(folder, { recursive: true });
  await killLeftoverBroker(folder);
  const settings = await prepareFolder(options);
  const logFile = join(folder, 'server.log');
  const broker = new SupervisedProcess({
    name: 'a Kafka broker',
    spawn: () => spawnBroker(options, settings, logFile),
    async probe() {
      const output = await readFile(logFile, 'utf8');
      return output.includes(READY_LINE) || `no "${READY_LINE}" in ${logFile}`;
    },
    readyWithinMs: READY_WITHIN_MS,
    async startError(missing) {
      if (missing !== undefined) {
        return new KafkaBrokerError(`A Kafka broker was not ready in time; see ${logFile}.`);
      }
      const output = await readFile(logFile, 'utf8');
      const reason = reasonOf(output) ?? 'no reason given';
      return new KafkaBrokerError(`A Kafka broker could not start: ${reason}`);
    },
    restart: RESTART,
    stopSignals,
    exitSignal: 'SIGKILL',
    pidFile: join(folder, PID_FILE),
    log,
  });
  try {
    await broker.ready();
  } catch (error) {
    await broker.stop([]);
    throw error;
  }
  return { stop: (signal) => broker.stop(signal === 'SIGKILL' ? [] : stopSignals) };
}

/** Writes the broker's settings, formats its data folder if it is new, and returns the settings' path. */
async function prepareFolder(options: BrokerOptions): Promise<string> {
  const { folder, clusterId, properties, scramUsers = [] } = options;
  const settings = join(folder, 'server.properties');
  const data = join(folder, 'data');
  const lines = Object.entries({ ...properties, 'log.dirs': data });
  // The settings hold passwords. A file of an earlier version would keep its mode, so it is made anew.
  await rm(settings, { force: true });
  const text = lines.map(([name, value]) => `${name}=${value}\n`).join('');
  await writeFile(settings, text, { mode: 0o600 });
  if (!existsSync(join(data, 'meta.properties'))) {
    const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', settings];
    const users = scramUsers.flatMap((user) => ['--add-scram', user]);
    const program = [...format, ...users, '--ignore-formatted'];
    await run('java', [...javaOptions(options), ...SMALL, ...program]).catch(
      // Not the error's message, which has the command line, and so the passwords of the users.
      ({ stderr, signal, code }: { stderr: string; signal?: string; code?: number }) => {
        const reason = reasonOf(stderr) ?? `Java ended with ${signal ?? `code ${code}`}`;
        throw new KafkaBrokerError(`Kafka cannot format its folder: ${reason}`);
      },
    );
  }
  return settings;
}

function spawnBroker(
  options: BrokerOptions,
  settings: string,
  logFile: string,
): Promise<ChildProcess> {
  const machine = [...(options.isLarge ? LARGE : SMALL), ENDS_WITHOUT_MEMORY];
  const args = [...javaOptions(options), ...machine, 'kafka.Kafka', settings];
  return spawnLogged('java', args, { logFile });
}

function javaOptions({ classpath, classArchive }: BrokerOptions): string[] {
  return ['-cp', classpath, classArchive, ...LOG_OPTIONS];
}

function reasonOf(output: string): string | undefined {
  // The frames of a Java stack have names such as `rethrowAsIOException`.
  return lastErrorLine(output, /^(?!\s*at ).*(ERROR|Exception)/);
}
