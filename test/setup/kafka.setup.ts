/** Tells the test run which Kafka to use, and whether it may do without one. */
import type {} from '@creditlane/events/kafka/test-kafka';
import type { TestProject } from 'vitest/node';

export default function setup(project: TestProject): void {
  project.provide('kafkaBrokers', process.env.KAFKA_BROKERS ?? '');
  project.provide('kafkaRequired', process.env.CREDITLANE_REQUIRE_KAFKA === '1');
}
