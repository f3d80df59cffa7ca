/** A program for tests that kill it: a group member that reports its first batch and never ends it. */
import { createTestBus } from './test-kafka-bus.ts';

const [config = '', group = ''] = process.argv.slice(2);
const bus = createTestBus(JSON.parse(config));
await bus.subscribe({
  group,
  topics: ['creditlane.decisions.v1'],
  handle: async (batch) => {
    process.stdout.write(`holding ${batch.length}\n`);
    await new Promise(() => undefined);
  },
});
