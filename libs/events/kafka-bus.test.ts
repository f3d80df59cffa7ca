import { afterAll, describe } from 'vitest';
import { describeEventBus } from './contract.ts';
import { openTestKafka } from './test-kafka.ts';
import { createTestBus } from './test-kafka-bus.ts';

const kafka = await openTestKafka();
afterAll(() => kafka?.close());

describe.skipIf(!kafka)('with Kafka', () => {
  if (!kafka) return;
  describeEventBus('over Kafka', async () => createTestBus(await kafka.makeConfig()));
});
