/** Kafka for a test file: the cluster that KAFKA_BROKERS names, or brokers started for the file. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedKafka,
  type EmbeddedKafkaOptions,
  startKafka,
} from '@creditlane/embedded-kafka/embedded-kafka';
import { KafkaUnavailableError, kafkaClasspath } from '@creditlane/embedded-kafka/jars';
import { silentLog } from '@creditlane/runtime/test-log';
import { describe, inject, test } from 'vitest';
import type { KafkaConfig } from '../kafka-config.ts';
import type { Topic } from '../topics.ts';
import { ensureTopics } from './ensure-topics.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The addresses of a running cluster, separated by commas; empty to start brokers. */
    kafkaBrokers: string;
    /** Whether the suites that need Kafka fail, instead of being skipped, where Kafka cannot run. */
    kafkaRequired: boolean;
  }
}

export interface TestKafka {
  /** Creates new topics, and returns the configuration for them and for new groups. */
  makeConfig(partitions?: number): Promise<KafkaConfig>;
  close(): Promise<void>;
}

/**
 * Resolves to undefined, after a message on standard error, where Kafka cannot run. Throws instead
 * when CREDITLANE_REQUIRE_KAFKA is set.
 */
export async function openTestKafka(): Promise<TestKafka | undefined> {
  const brokers = inject('kafkaBrokers');
  if (brokers) return { makeConfig: configMaker(brokers, 1), close: async () => undefined };
  const cluster = await startTestCluster(1);
  return cluster && { makeConfig: configMaker(cluster.brokers, 1), close: cluster.close };
}

/** Whether brokers can be started on this machine, for tests that do so themselves. Else like `openTestKafka`. */
export async function findKafka(): Promise<true | undefined> {
  const classpath = await kafkaClasspath().catch(reportUnavailable);
  return classpath === undefined ? undefined : true;
}

/** Like `openTestKafka`, but always starts brokers, for tests that stop them. */
export async function startTestCluster(
  brokers: 1 | 3,
  options: Partial<EmbeddedKafkaOptions> = {},
): Promise<(EmbeddedKafka & TestKafka) | undefined> {
  const dataDir = await mkdtemp(join(tmpdir(), 'creditlane-test-kafka-'));
  try {
    const cluster = await startKafka({ access: 'anyone', ...options, brokers, dataDir });
    const close = async () => {
      await cluster.close();
      await rm(dataDir, { recursive: true, force: true });
    };
    return { ...cluster, makeConfig: configMaker(cluster.brokers, brokers), close };
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    return reportUnavailable(error);
  }
}

/** Says that Kafka cannot run. Throws an error of another kind, and any error where Kafka is required. */
function reportUnavailable(error: unknown): undefined {
  if (!(error instanceof KafkaUnavailableError) || inject('kafkaRequired')) throw error;
  process.stderr.write(`\nNOT TESTED WITH KAFKA: ${error.message}\n\n`);
}

/** Defines a suite that needs Kafka. Without Kafka one skipped test names what is missing. */
export function describeWithKafka<K>(
  kafka: K | undefined,
  name: string,
  suite: (kafka: K) => void,
) {
  describe.skipIf(!kafka)(name, () => {
    if (kafka) suite(kafka);
    else test('needs Java 17 and Maven, or KAFKA_BROKERS', () => undefined);
  });
}

function configMaker(brokers: string, replication: number) {
  return async (partitions = 3): Promise<KafkaConfig> => {
    const prefix = `t${randomBytes(6).toString('hex')}.`;
    const config = { brokers: brokers.split(','), prefix, replication };
    const kept = { partitions, retentionMs: 3_600_000, replication };
    const topic: Topic = 'creditlane.decisions.v1';
    await ensureTopics({ config, log: silentLog, topics: { [topic]: kept } });
    return config;
  };
}
