// The Kafka of an installation: embedded, or the cluster that KAFKA_BROKERS names.
import { join } from 'node:path';
import { KAFKA_ADMIN } from '@creditlane/embedded-kafka/broker-access';
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { ensureAccess } from '@creditlane/events/kafka/ensure-access';
import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { KAFKA } from '@creditlane/events/kafka-config';
import type { Installation } from '@creditlane/local/installation';
import { step } from '@creditlane/local/progress';
import { kafkaPasswords } from '@creditlane/platform/secrets';
import { type Env, readEnv } from '@creditlane/runtime/env';
import type { Process } from '@creditlane/runtime/run';

export interface KafkaOptions {
  brokers: 1 | 3;
  /** KAFKA_BROKERS in it names a running cluster, which is used instead of an embedded one. */
  environment: Env;
}

/**
 * Starts Kafka, unless the environment names a cluster, and creates the topics. Returns the variables by
 * which a service connects to it. In the embedded Kafka each service is a user with a password of its own
 * and may use its own topics only; a cluster that the environment names has its own access rules.
 */
export async function openKafka(
  installation: Installation,
  options: KafkaOptions,
  process: Process,
): Promise<Record<string, string>> {
  const { log } = process;
  const configured = pickVariables(options.environment, /^(KAFKA_|ALLOW_PLAINTEXT$)/);
  if (configured.KAFKA_BROKERS) {
    const config = readEnv(configured, KAFKA.read);
    await step('Making the topics', () => ensureTopics({ config, log }));
    return configured;
  }
  const settings = {
    ...pickVariables(configured, /^KAFKA_PREFIX$/),
    ...(await startEmbedded(installation, options.brokers, process)),
  };
  const { secrets, services } = installation;
  const credentials = {
    KAFKA_SASL_USERNAME: KAFKA_ADMIN,
    KAFKA_SASL_PASSWORD: secrets.kafkaPassword,
  };
  const config = readEnv({ ...settings, ...credentials }, KAFKA.read);
  await step('Making the topics', async () => {
    await ensureTopics({ config, log });
    await ensureAccess({ config, users: services, log });
  });
  return settings;
}

async function startEmbedded(
  { dir, secrets, services }: Installation,
  brokers: 1 | 3,
  process: Process,
): Promise<Record<string, string>> {
  const dataDir = join(dir, 'kafka');
  const access = kafkaPasswords(secrets, services);
  const kafka = await step('Starting Kafka', () =>
    startKafka({ brokers, dataDir, access, log: process.log }),
  );
  process.closers.add('Kafka', kafka.close);
  return {
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_REPLICATION: String(brokers),
    KAFKA_SASL_MECHANISM: 'plain',
  };
}

/** The variables of the environment whose names match. */
export function pickVariables(environment: Env, names: RegExp): Record<string, string> {
  const entries = Object.entries(environment).filter(
    (entry): entry is [string, string] => names.test(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}
