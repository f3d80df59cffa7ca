/** A worker that runs each service as a process of its own, with a Kafka broker, as `npm run up` does. */
import { join } from 'node:path';
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { KAFKA } from '@creditlane/events/kafka-config';
import { HOST } from '@creditlane/local/host';
import { choosePorts } from '@creditlane/local/ports';
import { type DatabaseOwner, SERVICES } from '@creditlane/platform/services';
import { environmentOf, type ProcessSettings } from '@creditlane/processes/environment';
import { type Instance, planInstances, portsNeeded } from '@creditlane/processes/instances';
import {
  type ProcessPlatformOptions,
  startProcessPlatform,
} from '@creditlane/processes/process-platform';
import { ServiceProcess } from '@creditlane/processes/service-process';
import { Closers } from '@creditlane/runtime/closers';
import { readEnv } from '@creditlane/runtime/env';
import { Health } from '@creditlane/runtime/health';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { PlatformAddress, StartOptions } from './run-mode.ts';
import { serveParent } from './worker.ts';

/** A second process of a service, with databases and topics of its own. */
export interface SeparateService {
  service: DatabaseOwner;
  databaseUrls: ProcessSettings['databaseUrls'];
  /** Prefix of the names of its topics and consumer groups. */
  topicPrefix: string;
}

const closers = new Closers();
const log = createLog('bench', { level: 'warn', pretty: true });
const workerProcess = { log, closers, metrics: new Metrics(), health: new Health() };

/** The options that the platform was started with. */
let platformOptions: ProcessPlatformOptions | undefined;
let separateService: ServiceProcess | undefined;

const functions = {
  async start({ dataDir, nodeFlags, ...settings }: StartOptions): Promise<PlatformAddress> {
    const broker = await startKafka({
      brokers: 1,
      dataDir: join(dataDir, 'kafka'),
      access: 'anyone',
      isLarge: true,
    });
    closers.add('Kafka', broker.close);
    const kafka = { KAFKA_BROKERS: broker.brokers, KAFKA_REPLICATION: '1' };
    await makeTopics(kafka);
    const ports = await choosePorts({ first: 0, host: HOST, services: portsNeeded({}) });
    // Besides these flags the services run with their defaults: they log, and record no traces.
    const commonSettings = {
      NODE_OPTIONS: nodeFlags.map((flag) => JSON.stringify(flag)).join(' '),
    };
    platformOptions = { ...settings, kafka, ports, commonSettings, write: printProblems };
    const { baseUrl, services } = await startProcessPlatform(platformOptions, workerProcess);
    return { baseUrl, processes: services() };
  },

  /** Makes the topics, starts the process, and resolves when the process is ready. */
  async startSeparateService({
    service,
    databaseUrls,
    topicPrefix,
  }: SeparateService): Promise<void> {
    if (platformOptions === undefined) throw new Error('the platform has not been started');
    const kafka = { ...platformOptions.kafka, KAFKA_PREFIX: topicPrefix };
    await makeTopics(kafka);
    const { services } = await choosePorts({ first: 0, host: HOST, services: 3 });
    const [grpc = 0, http = 0, ops = 0] = services;
    const manifest = SERVICES.find(({ name }) => name === service);
    if (manifest === undefined) throw new Error(`there is no service ${service}`);
    const name = `separate ${service}`;
    const instance: Instance = { name, service: manifest, ports: { grpc, http, ops } };
    const peers = planInstances(platformOptions.ports, {});
    const env = environmentOf(instance, peers, { ...platformOptions, databaseUrls, kafka });
    const onRestart = () => log.warn(`${instance.name} was restarted: its figure is not valid`);
    const started = new ServiceProcess({
      instance,
      env: { ...platformOptions.commonSettings, ...env },
      log,
      write: printProblems,
      onRestart,
    });
    separateService = started;
    closers.add(instance.name, () => started.stop());
    await started.ready();
  },

  /** Stops the process that `startSeparateService` started last. */
  async stopSeparateService(_: undefined): Promise<void> {
    await separateService?.stop();
  },
};

export type ProcessesWorker = typeof functions;

async function makeTopics(kafka: Record<string, string>): Promise<void> {
  await ensureTopics({ config: readEnv(kafka, KAFKA.read), log });
}

/** Prints the services' log lines of level WARN and above, and everything that is no log line. */
function printProblems(text: string): void {
  if (!/^\S+ (INFO|DEBUG|TRACE) /.test(text)) process.stderr.write(text);
}

serveParent(functions, () => closers.close());
