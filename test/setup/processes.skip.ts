/** Skips the tests of the run mode `processes` on a machine without Kafka. */
import { openTestKafka } from '@creditlane/events/kafka/test-kafka';
import { beforeEach } from 'vitest';

const kafka = await openTestKafka();
await kafka?.close();
beforeEach((context) => {
  context.skip(kafka === undefined, 'needs Java 17 and Maven, or KAFKA_BROKERS');
});
