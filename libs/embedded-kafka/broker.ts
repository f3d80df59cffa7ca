/** One broker program of an embedded Kafka: how it is set up, when it is ready, how it ends. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { killFromPidFile, writePidFile } from '@creditlane/supervision/pid-file';

const run = promisify(execFile);

/** Small and quick to start: one collector thread, no second compiler. */
const SMALL = ['-Xms64m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
/** Fast, once it is warm, as on a server of its own. */
const LARGE = ['-Xms1g', '-Xmx1g', '-XX:+UseG1GC'];
const LOG_OPTIONS = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
];
const READY_LOG = 'kafka.server.KafkaRaftServer';
const READY_LINE = 'Kafka Server started';
const READY_WITHIN_MS = 60_000;
const POLL_MS = 25;
/** A broker that lost the others cannot end in order, and has nothing to lose by being killed. */
const STOP_WITHIN_MS = 3_000;

/** In the broker's folder: tells which process it is. */
const MARK = 'broker.pid';

export class KafkaBrokerError extends Error {
  override name = 'KafkaBrokerError';
  readonly loggable = true;
}

export interface BrokerOptions {
  folder: string;
  classpath: string;
  clusterId: string;
  properties: Record<string, string | number>;
  /** Users with passwords that a new folder begins with, as `StorageTool --add-scram` takes them. */
  scramUsers?: readonly string[];
  /** Whether it gets what a broker gets on a server of its own; else little, for it starts soon. */
  isLarge?: boolean;
}

export interface Broker {
  /** Resolves once it has ended, whoever ended it. */
  ended: Promise<unknown>;
  /** SIGTERM hands the broker's partitions over first; SIGKILL is a crash. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Ends the broker that a killed process left running on its folder. */
export function killLeftoverBroker(folder: string): Promise<void> {
  return killFromPidFile(join(folder, MARK));
}

/** Formats the broker's folder if it is new, and resolves once it serves. Throws `KafkaBrokerError`. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { folder, classpath, clusterId, scramUsers = [] } = options;
  await mkdir(folder, { recursive: true });
  await killLeftoverBroker(folder);
  const settings = join(folder, 'server.properties');
  const data = join(folder, 'data');
  const lines = Object.entries({ ...options.properties, 'log.dirs': data });
  await writeFile(settings, lines.map(([name, value]) => `${name}=${value}\n`).join(''));
  if (!existsSync(join(data, 'meta.properties'))) {
    const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', settings];
    const users = scramUsers.flatMap((user) => ['--add-scram', user]);
    const program = [...format, ...users, '--ignore-formatted'];
    await run('java', ['-cp', classpath, ...SMALL, ...LOG_OPTIONS, ...program]);
  }
  const logFile = join(folder, 'server.log');
  // The log of the time before is what explains a crash.
  await rename(logFile, `${logFile}.1`).catch(ignoreMissing);
  const log = await open(logFile, 'w');
  const tellReady = `-Dorg.slf4j.simpleLogger.log.${READY_LOG}=info`;
  const java = ['-cp', classpath, ...(options.isLarge ? LARGE : SMALL), ...LOG_OPTIONS];
  const program = [...java, tellReady, 'kafka.Kafka', settings];
  // A group of its own: Ctrl-C is for us, who stop the broker when nobody needs it any more.
  const child = spawn('java', program, { detached: true, stdio: ['ignore', log.fd, log.fd] });
  await log.close();
  const ended = once(child, 'exit').catch(() => undefined);
  const stopAtExit = () => child.kill('SIGKILL');
  process.once('exit', stopAtExit);
  void ended.then(() => process.off('exit', stopAtExit));

  const stop: Broker['stop'] = async (signal) => {
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(timer);
  };
  try {
    if (child.pid !== undefined) await writePidFile(join(folder, MARK), child.pid);
    await ready(child, logFile);
  } catch (error) {
    await stop('SIGKILL');
    throw error;
  }
  return { ended, stop };
}

async function ready(child: ChildProcess, logFile: string): Promise<void> {
  for (const deadline = Date.now() + READY_WITHIN_MS; Date.now() < deadline; await delay(POLL_MS)) {
    const text = await readFile(logFile, 'utf8');
    if (text.includes(READY_LINE)) return;
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      throw new KafkaBrokerError(`A Kafka broker could not start: ${lastComplaint(text)}`);
    }
  }
  throw new KafkaBrokerError(`A Kafka broker was not ready in time; see ${logFile}.`);
}

function lastComplaint(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  return (
    lines.findLast((line) => /ERROR|Exception/.test(line)) ?? lines.at(-1) ?? 'no reason given'
  );
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
