/** The platform with each service a process of its own, on a Kafka broker, as `npm run up` runs it. */
import { join } from 'node:path';
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { readKafkaConfig } from '@creditlane/events/kafka-config';
import { HOST } from '@creditlane/local/host';
import { choosePorts } from '@creditlane/local/ports';
import { type DatabaseOwner, SERVICES } from '@creditlane/platform/services';
import { environmentOf, type ProcessSettings } from '@creditlane/processes/environment';
import { type FleetOptions, startFleet } from '@creditlane/processes/fleet';
import { type Instance, planInstances, portsNeeded } from '@creditlane/processes/instances';
import { ServiceProcess } from '@creditlane/processes/service-process';
import { Closers } from '@creditlane/runtime/closers';
import { readEnv } from '@creditlane/runtime/env';
import { Health } from '@creditlane/runtime/health';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { Platform, PlatformOptions } from './run-mode.ts';
import { playPart } from './worker.ts';

/** A service that works by itself, with databases and topics that are not the platform's. */
export interface Alone {
  service: DatabaseOwner;
  databaseUrls: ProcessSettings['databaseUrls'];
  /** Before the names of its topics and groups. */
  prefix: string;
}

const closers = new Closers();
const log = createLog('bench', { level: 'warn', pretty: true });
const life = { log, closers, metrics: new Metrics(), health: new Health() };

let fleet: FleetOptions | undefined;
let alone: ServiceProcess | undefined;

const functions = {
  async start({ dataDir, nodeFlags, ...settings }: PlatformOptions): Promise<Platform> {
    const broker = await startKafka({
      brokers: 1,
      dataDir: join(dataDir, 'kafka'),
      isLarge: true,
    });
    closers.add('Kafka', broker.close);
    const kafka = { KAFKA_BROKERS: broker.brokers, KAFKA_REPLICATION: '1' };
    await makeTopics(kafka);
    const ports = await choosePorts(0, HOST, portsNeeded({}));
    // No other settings than a service has by itself: it logs, and traces nothing, as in production.
    const everywhere = { NODE_OPTIONS: nodeFlags.map((flag) => JSON.stringify(flag)).join(' ') };
    fleet = { ...settings, kafka, ports, everywhere, write: showTrouble };
    const { baseUrl, services } = await startFleet(fleet, life);
    return { baseUrl, processes: services() };
  },

  /** Makes the topics and starts the service's process beside the platform's; resolves when it is ready. */
  async startAlone({ service, databaseUrls, prefix }: Alone): Promise<void> {
    if (fleet === undefined) throw new Error('there is no platform to be beside');
    const kafka = { ...fleet.kafka, KAFKA_PREFIX: prefix };
    await makeTopics(kafka);
    const { services } = await choosePorts(0, HOST, 3);
    const [grpc = 0, http = 0, ops = 0] = services;
    const manifest = SERVICES.find(({ name }) => name === service);
    if (manifest === undefined) throw new Error(`there is no service ${service}`);
    const name = `${service} alone`;
    const instance: Instance = { name, service: manifest, ports: { grpc, http, ops } };
    const peers = planInstances(fleet.ports, {});
    const env = environmentOf(instance, peers, { ...fleet, databaseUrls, kafka });
    const onRestart = () => log.warn(`${instance.name} was started again: do not trust its figure`);
    const all = { ...fleet.everywhere, ...env };
    alone = new ServiceProcess({ instance, env: all, log, write: showTrouble, onRestart });
    const process = alone;
    closers.add(instance.name, () => process.stop());
    await process.ready();
  },

  /** Ends the service that `startAlone` started last. */
  async stopAlone(_: undefined): Promise<void> {
    await alone?.stop();
  },
};

export type FleetPart = typeof functions;

async function makeTopics(kafka: Record<string, string>): Promise<void> {
  await ensureTopics({ config: readEnv(kafka, readKafkaConfig), log });
}

/** All but what they say when all is well. */
function showTrouble(text: string): void {
  if (!/^\S+ (INFO|DEBUG|TRACE) /.test(text)) process.stderr.write(text);
}

playPart(functions, () => closers.close());
