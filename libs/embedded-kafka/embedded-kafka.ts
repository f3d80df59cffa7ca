/** A Kafka cluster of one's own for tests and local use: Apache Kafka's brokers on loopback. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { KafkaBrokerError, killLeftoverBroker } from './broker.ts';
import { kafkaClasspath } from './jars.ts';
import { type SupervisedBroker, superviseBroker } from './supervised-broker.ts';

const HOST = '127.0.0.1';
const FOLDER = 'broker-';

export interface EmbeddedKafkaOptions {
  brokers: 1 | 3;
  /** Made if missing; a cluster that was there before goes on with its topics and messages. */
  dataDir: string;
  /** Of the brokers, then of their controllers: twice as many as brokers. Free ones when left out. */
  ports?: number[];
  /** More of the brokers' settings, or others than usual. */
  properties?: Record<string, string | number>;
  /** See `BrokerOptions`. */
  scramUsers?: readonly string[];
  /** See `BrokerOptions`. */
  isLarge?: boolean;
  log?: Log;
}

export interface EmbeddedKafka {
  /** What clients connect to: addresses separated by commas, as KAFKA_BROKERS has them. */
  brokers: string;
  /** Stops the broker with this number, from 0; SIGKILL unless it may hand over its partitions. */
  stopBroker(index: number, signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts a stopped one again, where it was before. */
  startBroker(index: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts one broker or three, each of them a controller too (KRaft), and resolves once all serve. One
 * that dies is started again, on its ports and its data. Throws `KafkaUnavailableError` where there is no Java or Maven, and `KafkaBrokerError`.
 */
export async function startKafka(options: EmbeddedKafkaOptions): Promise<EmbeddedKafka> {
  const { brokers: count, properties = {}, scramUsers = [], isLarge = false, log } = options;
  const dataDir = resolve(options.dataDir);
  const classpath = await kafkaClasspath();
  await mkdir(dataDir, { recursive: true });
  await assertSameSize(dataDir, count);
  const clusterId = await readClusterId(join(dataDir, 'cluster-id'));
  const ports = options.ports ?? (await findFreePorts(2 * count));
  const running = new Map<number, SupervisedBroker>();

  const start = async (index: number): Promise<void> => {
    if (running.has(index)) throw new KafkaBrokerError(`broker ${index} is running already`);
    const settings = { ...settingsOf(index, count, ports), ...properties };
    const folder = join(dataDir, FOLDER + index);
    const broker = { folder, classpath, clusterId, properties: settings, scramUsers, isLarge };
    running.set(index, await superviseBroker(broker, log));
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
      .map((port) => `${HOST}:${port}`)
      .join(','),
    stopBroker: (index, signal = 'SIGKILL') => stop(index, signal),
    startBroker: start,
    close,
  };
}

/** Ends the brokers that a killed process left running on a data directory, if there are any. */
export async function stopEmbeddedKafka(dataDir: string): Promise<void> {
  const folders = await brokerFolders(resolve(dataDir));
  await Promise.all(folders.map(killLeftoverBroker));
}

/** A cluster cannot grow or shrink by a setting: its voters and replicas would have to be moved. */
async function assertSameSize(dataDir: string, count: number): Promise<void> {
  const { length } = await brokerFolders(dataDir);
  if (length === 0 || length === count) return;
  throw new KafkaBrokerError(`The Kafka in ${dataDir} has ${length} brokers, not ${count}.`);
}

async function brokerFolders(dataDir: string): Promise<string[]> {
  try {
    const names = await readdir(dataDir);
    return names.filter((name) => name.startsWith(FOLDER)).map((name) => join(dataDir, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function settingsOf(index: number, count: number, ports: number[]) {
  const controllers = ports.slice(count, 2 * count).map((port, at) => `${at}@${HOST}:${port}`);
  return {
    'process.roles': 'broker,controller',
    'node.id': index,
    'controller.quorum.voters': controllers.join(','),
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://${HOST}:${ports[index]},CONTROLLER://${HOST}:${ports[count + index]}`,
    'auto.create.topics.enable': 'false',
    'offsets.topic.num.partitions': 3,
    'offsets.topic.replication.factor': count,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': count,
    'transaction.state.log.min.isr': 1,
    // Nobody else is about to join a group: its first member need not wait.
    'group.initial.rebalance.delay.ms': 0,
    // A third of the heap otherwise, for compaction that hardly ever happens.
    'log.cleaner.dedupe.buffer.size': 4_194_304,
    // A broker that died is missed sooner than in a data centre.
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
  };
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
