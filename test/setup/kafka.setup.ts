/**
 * Provides the addresses of the Kafka cluster that KAFKA_BROKERS names, and whether tests that need
 * Kafka must fail, instead of being skipped, on a machine without it.
 */
import type {} from '@creditlane/events/kafka/test-kafka';
import type { TestProject } from 'vitest/node';

export default function setup(project: TestProject): void {
  project.provide('kafkaBrokers', process.env.KAFKA_BROKERS ?? '');
  project.provide('kafkaRequired', process.env.CREDITLANE_REQUIRE_KAFKA === '1');
}
