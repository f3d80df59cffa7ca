// How the end-to-end tests run: in one process, in the order of the file, each after the other has passed.
import { defineConfig } from 'vitest/config';

const LONGEST_TEST_MS = 600_000;

export default defineConfig({
  ssr: {
    resolve: { conditions: ['@creditlane/source', 'module', 'node', 'development|production'] },
  },
  test: {
    include: ['test/cluster/*.e2e.ts'],
    reporters: [['verbose', { summary: false }]],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: LONGEST_TEST_MS,
    hookTimeout: LONGEST_TEST_MS,
    teardownTimeout: 60_000,
    // On a busy machine the brokers let the first publish of a new pod wait for more than 20 s.
    expect: { poll: { timeout: 180_000, interval: 250 } },
    retry: 0,
    bail: 1,
    allowOnly: false,
  },
});
