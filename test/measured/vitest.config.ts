// How the measured tests run: one file at a time in a process of its own, so that nothing else of the run takes CPU time.
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  ssr: {
    resolve: { conditions: ['@creditlane/source', 'module', 'node', 'development|production'] },
  },
  test: {
    include: ['libs', 'services', 'test'].map((it) => `${it}/**/*.measured.ts`),
    globalSetup: [resolve(import.meta.dirname, '../setup/postgres.setup.ts')],
    // Without the summary, which would be written over the figures.
    reporters: [['verbose', { summary: false }]],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    retry: 0,
    allowOnly: false,
  },
});
