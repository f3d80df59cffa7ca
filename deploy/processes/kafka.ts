// The Kafka of an installation: embedded, or the cluster that KAFKA_BROKERS names.
import { join } from 'node:path';
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { readKafkaConfig } from '@creditlane/events/kafka-config';
import type { Installation } from '@creditlane/local/installation';
import { step } from '@creditlane/local/progress';
import { type Env, readEnv } from '@creditlane/runtime/env';
import type { Process } from '@creditlane/runtime/run';

export interface KafkaOptions {
  brokers: 1 | 3;
  /** KAFKA_BROKERS in it names a running cluster, which is used instead of an embedded one. */
  environment: Env;
}

/**
 * Starts Kafka, unless the environment names a cluster, and creates the topics. Returns the variables by
 * which a service connects to it.
 */
export async function openKafka(
  installation: Installation,
  options: KafkaOptions,
  process: Process,
): Promise<Record<string, string>> {
  const configured = pickVariables(options.environment, /^KAFKA_/);
  const settings = configured.KAFKA_BROKERS
    ? configured
    : { ...configured, ...(await startEmbedded(installation, options.brokers, process)) };
  const config = readEnv(settings, readKafkaConfig);
  await step('Making the topics', () => ensureTopics({ config, log: process.log }));
  return settings;
}

async function startEmbedded({ dir }: Installation, brokers: 1 | 3, process: Process) {
  const kafka = await step('Starting Kafka', () =>
    startKafka({ brokers, dataDir: join(dir, 'kafka'), log: process.log }),
  );
  process.closers.add('Kafka', kafka.close);
  return { KAFKA_BROKERS: kafka.brokers, KAFKA_REPLICATION: String(brokers) };
}

/** The variables of the environment whose names match. */
export function pickVariables(environment: Env, names: RegExp): Record<string, string> {
  const entries = Object.entries(environment).filter(
    (entry): entry is [string, string] => names.test(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}
