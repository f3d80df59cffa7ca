/** A member of a group that takes a batch, says so, and never finishes: to be killed by a test. */
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
