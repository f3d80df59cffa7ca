// How the end-to-end test runs: alone, with minutes of time.
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  ssr: {
    resolve: { conditions: ['@creditlane/source', 'module', 'node', 'development|production'] },
  },
  test: {
    include: ['test/restore/*.e2e.ts'],
    globalSetup: [resolve(import.meta.dirname, '../setup/kafka.setup.ts')],
    pool: 'forks',
    // Above the time after which callers give up, and that in which the history settles.
    testTimeout: 900_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
