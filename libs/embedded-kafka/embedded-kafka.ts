/** A Kafka cluster for development and tests: Apache Kafka's brokers on loopback. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { isMissing } from '@creditlane/supervision/missing-file';
import { type Broker, KafkaBrokerError, killLeftoverBroker, startBroker } from './broker.ts';
import type { KafkaPasswords } from './broker-access.ts';
import { listenersOf, settingsOf } from './broker-settings.ts';
import { classArchiveOption } from './class-archive.ts';
import { kafkaClasspath } from './jars.ts';

const LOOPBACK = '127.0.0.1';
const FOLDER = 'broker-';

export interface EmbeddedKafkaOptions {
  brokers: 1 | 3;
  /**
   * Created if missing, and closed to other users of the machine. A cluster that was created here before
   * keeps its topics and messages, also when `access` changes.
   */
  dataDir: string;
  /** The passwords that clients must have; `anyone` only for tests, where nothing acts on an event. */
  access: KafkaPasswords | 'anyone';
  /** The address of this machine that the brokers listen on; loopback when left out. */
  host?: string;
  /** The ports of the brokers, then of their controllers, so twice `brokers`; free ones when left out. */
  ports?: number[];
  /** Settings of the brokers, added to the usual ones or in their place. */
  properties?: Record<string, string | number>;
  /** See `BrokerOptions`. */
  scramUsers?: readonly string[];
  /** See `BrokerOptions`. */
  isLarge?: boolean;
  log?: Log;
}

export interface EmbeddedKafka {
  /** The addresses that clients connect to, separated by commas, as in KAFKA_BROKERS. */
  brokers: string;
  /** Stops the broker with this number, from 0. SIGKILL, the default, is a crash. */
  stopBroker(index: number, signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts a stopped broker again, on its ports and its data. */
  startBroker(index: number): Promise<void>;
  close(): Promise<void>;
}

/** A data directory has a cluster of another size than was asked for. */
export class KafkaSizeError extends KafkaBrokerError {
  readonly brokers: number;

  constructor(dataDir: string, brokers: number, wanted: number) {
    super(
      `The Kafka in ${dataDir} has ${brokers === 1 ? '1 broker' : `${brokers} brokers`}, not ${wanted}.`,
    );
    this.brokers = brokers;
  }
}

/**
 * Starts one broker or three, each of them a controller too (KRaft), and resolves once all serve. A
 * broker that ends by itself is started again, on its ports and its data. Throws
 * `KafkaUnavailableError` without Java or Maven, and `KafkaBrokerError` when a broker does not start.
 */
export async function startKafka(options: EmbeddedKafkaOptions): Promise<EmbeddedKafka> {
  const {
    brokers: count,
    access,
    host = LOOPBACK,
    properties = {},
    scramUsers = [],
    isLarge = false,
    log,
  } = options;
  const dataDir = resolve(options.dataDir);
  const classpath = await kafkaClasspath();
  const classArchive = await classArchiveOption(classpath);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Earlier versions made the directory with mode 0755.
  await chmod(dataDir, 0o700);
  await deleteUnusedFolders(dataDir, count);
  const clusterId = await readClusterId(join(dataDir, 'cluster-id'));
  const ports = options.ports ?? (await findFreePorts(2 * count));
  const running = new Map<number, Broker>();

  const start = async (index: number): Promise<void> => {
    if (running.has(index)) throw new KafkaBrokerError(`broker ${index} is running already`);
    const settings = {
      ...settingsOf(index, host, ports),
      ...listenersOf(access, host, ports[index], ports[count + index]),
      ...properties,
    };
    const folder = join(dataDir, FOLDER + index);
    const machine = { classpath, classArchive, clusterId, scramUsers, isLarge, log };
    running.set(index, await startBroker({ folder, properties: settings, ...machine }));
  };
  const stop = async (index: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const broker = running.get(index);
    running.delete(index);
    await broker?.stop(signal);
  };
  const close = async () => {
    await Promise.all([...running.keys()].map((index) => stop(index, 'SIGTERM')));
  };

  const starts = await Promise.allSettled([...Array(count).keys()].map(start));
  const failed = starts.find((outcome) => outcome.status === 'rejected');
  if (failed) {
    await close();
    throw failed.reason;
  }
  return {
    brokers: ports
      .slice(0, count)
      .map((port) => `${host}:${port}`)
      .join(','),
    stopBroker: (index, signal = 'SIGKILL') => stop(index, signal),
    startBroker: start,
    close,
  };
}

/** Kills the brokers that a killed process left running on a data directory. Resolves to whether there were any. */
export async function stopEmbeddedKafka(dataDir: string): Promise<boolean> {
  const folders = await brokerFolders(resolve(dataDir));
  return (await Promise.all(folders.map(killLeftoverBroker))).includes(true);
}

/**
 * Deletes the folders that a cluster of `count` brokers does not use: a first start of a larger one, which failed, has left them.
 * Throws `KafkaSizeError` when a folder has data: the size of a cluster cannot be changed by a setting, as voters and
 * replicas would have to be moved.
 */
async function deleteUnusedFolders(dataDir: string, count: number): Promise<void> {
  const folders = await brokerFolders(dataDir);
  if (folders.length === count) return;
  if ((await Promise.all(folders.map(hasData))).includes(true)) {
    throw new KafkaSizeError(dataDir, folders.length, count);
  }
  const used = Array.from({ length: count }, (_, index) => join(dataDir, FOLDER + index));
  const unused = folders.filter((folder) => !used.includes(folder));
  await Promise.all(unused.map((folder) => rm(folder, { recursive: true })));
}

/** Whether a broker's folder has anything that a broker has stored, be it incomplete. */
async function hasData(folder: string): Promise<boolean> {
  try {
    return (await readdir(join(folder, 'data'))).length > 0;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function brokerFolders(dataDir: string): Promise<string[]> {
  try {
    const names = await readdir(dataDir);
    return names.filter((name) => name.startsWith(FOLDER)).map((name) => join(dataDir, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function readClusterId(file: string): Promise<string> {
  const fresh = randomBytes(16).toString('base64url').replace(/^-/, 'A');
  try {
    await writeFile(file, fresh, { flag: 'wx' });
    return fresh;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return await readFile(file, 'utf8');
  }
}
