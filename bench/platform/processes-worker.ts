/** A worker that runs each service as a process of its own, with a Kafka broker, as `npm run up` does. */
import { join } from 'node:path';
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { KAFKA } from '@creditlane/events/kafka-config';
import { HOST } from '@creditlane/local/host';
import { choosePorts } from '@creditlane/local/ports';
import { portsNeeded } from '@creditlane/processes/instances';
import { startProcessPlatform } from '@creditlane/processes/process-platform';
import { Closers } from '@creditlane/runtime/closers';
import { readEnv } from '@creditlane/runtime/env';
import { Health } from '@creditlane/runtime/health';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { PlatformWorker } from './run-mode.ts';
import { serveParent } from './worker.ts';

const closers = new Closers();
const log = createLog('bench', { level: 'warn', pretty: true });
const workerProcess = { log, closers, metrics: new Metrics(), health: new Health() };

const functions: PlatformWorker = {
  async start({ dataDir, nodeFlags, ...settings }) {
    const broker = await startKafka({
      brokers: 1,
      dataDir: join(dataDir, 'kafka'),
      access: 'anyone',
      isLarge: true,
    });
    closers.add('Kafka', broker.close);
    const kafka = { KAFKA_BROKERS: broker.brokers, KAFKA_REPLICATION: '1' };
    await ensureTopics({ config: readEnv(kafka, KAFKA.read), log });
    const ports = await choosePorts({ first: 0, host: HOST, services: portsNeeded({}) });
    // Besides these flags the services run with their defaults: they log, and record no traces.
    const commonSettings = {
      NODE_OPTIONS: nodeFlags.map((flag) => JSON.stringify(flag)).join(' '),
    };
    const options = { ...settings, kafka, ports, commonSettings, write: printProblems };
    const { baseUrl, services } = await startProcessPlatform(options, workerProcess);
    return { baseUrl, processes: services() };
  },
};

/** Prints the services' log lines of level WARN and above, and everything that is no log line. */
function printProblems(text: string): void {
  if (!/^\S+ (INFO|DEBUG|TRACE) /.test(text)) process.stderr.write(text);
}

serveParent(functions, () => closers.close());
