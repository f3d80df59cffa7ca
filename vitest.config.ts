// How the tests run: unit tests beside the source first, then the promises of test/.
import { defineConfig } from 'vitest/config';

const UNIT = ['libs/**/*.test.ts', 'services/**/*.test.ts', 'deploy/**/*.test.ts'];
const PROMISES = ['test/**/*.test.ts'];

export default defineConfig({
  test: {
    // Starts the one PostgreSQL that every test file makes its databases in.
    globalSetup: ['test/postgres.setup.ts', 'test/kafka.setup.ts'],
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
    ],
  },
});
