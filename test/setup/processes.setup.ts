/** Starts the one Kafka broker that all worlds of separate processes share. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { KafkaUnavailableError } from '@creditlane/embedded-kafka/jars';
import type { TestProject } from 'vitest/node';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const nothing = async () => undefined;
  if (process.env.KAFKA_BROKERS) return nothing;
  const dataDir = await mkdtemp(join(tmpdir(), 'creditlane-test-kafka-'));
  const removeData = () => rm(dataDir, { recursive: true, force: true });
  try {
    const kafka = await startKafka({ brokers: 1, dataDir });
    project.provide('kafkaBrokers', kafka.brokers);
    return async () => {
      await kafka.close();
      await removeData();
    };
  } catch (error) {
    await removeData();
    // Each test file says so, and fails or is skipped as the run asks.
    if (error instanceof KafkaUnavailableError) return nothing;
    throw error;
  }
}
