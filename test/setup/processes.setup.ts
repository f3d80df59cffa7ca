/** Starts the Kafka broker that all test platforms of the run mode `processes` share. */
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { KafkaUnavailableError } from '@creditlane/embedded-kafka/jars';
import type { TestProject } from 'vitest/node';
import { createDataDir, removeDataDir } from '../platform/temporary-data-dir.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const noTeardown = async () => undefined;
  if (process.env.KAFKA_BROKERS) return noTeardown;
  const dataDir = await createDataDir('test-kafka');
  try {
    const kafka = await startKafka({ brokers: 1, dataDir, access: 'anyone' });
    project.provide('kafkaBrokers', kafka.brokers);
    return async () => {
      await kafka.close();
      await removeDataDir(dataDir);
    };
  } catch (error) {
    await removeDataDir(dataDir);
    // Without Kafka each test file reports that, and fails when CREDITLANE_REQUIRE_KAFKA is set.
    if (error instanceof KafkaUnavailableError) return noTeardown;
    throw error;
  }
}
