// How the tests run: unit tests beside the source first, then the promises of test/.
import { defineConfig } from 'vitest/config';

const UNIT = ['libs/**/*.test.ts', 'services/**/*.test.ts', 'deploy/**/*.test.ts'];
const PROMISES = ['test/**/*.test.ts'];
/** These must hold as well where each service is a process of its own, with real Kafka between them. */
const IN_PROCESSES = [
  'decision-webhooks',
  'trace',
  'metrics',
  'idempotency',
  'webhook-retries',
  'tenant-isolation',
  'rejected-requests',
];

export default defineConfig({
  test: {
    // Starts the one PostgreSQL that every test file makes its databases in.
    globalSetup: ['test/setup/postgres.setup.ts', 'test/setup/kafka.setup.ts'],
    // A process per file, so that a leaked socket, timer or global cannot reach the next one; two,
    // because the machines that run this have two cores and PostgreSQL needs its share.
    pool: 'forks',
    isolate: true,
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    retry: 0,
    allowOnly: false,
    restoreMocks: true,
    unstubEnvs: true,
    projects: [
      { extends: true, test: { name: 'unit', include: UNIT, sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: 'promises', include: PROMISES, sequence: { groupOrder: 2 } } },
      {
        extends: true,
        test: {
          name: 'processes',
          include: IN_PROCESSES.map((promise) => `test/${promise}.test.ts`),
          env: { CREDITLANE_WORLD: 'processes' },
          globalSetup: 'test/setup/processes.setup.ts',
          setupFiles: 'test/setup/processes.skip.ts',
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
