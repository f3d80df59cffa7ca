// How the tests run: unit tests beside the source first, then the promises in test/ and, at the same time, some of
// these promises again with each service as a process of its own.
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const UNIT = [
  'libs/**/*.test.ts',
  'services/**/*.test.ts',
  'deploy/**/*.test.ts',
  'bench/**/*.test.ts',
];
const PROMISES = ['test/**/*.test.ts'];
/**
 * These promises are also tested with each service as a process of its own, and real Kafka. Each run mode has the
 * same code above the transports, so these cover every way by which services meet: calls, events in order,
 * replays, caches of keys and grants, traces and metrics. Conversations, the secrets of destinations and exports pass
 * in processes, too, and meet in no other way; they would add 177 s on a machine at six times its capacity. Traces and
 * metrics need settings of their own, and the others share one platform.
 */
const TESTED_IN_PROCESSES = [
  'test/shared-processes.ts',
  'test/trace.test.ts',
  'test/metrics.test.ts',
];

/** The files that take half a minute and more, the longest first. */
const LONGEST = [
  'test/faults/processes',
  'test/npm-up',
  'test/npm-start',
  'test/faults/one-process',
  'test/shared-processes',
  'test/documentation/page',
  'libs/events/kafka/outage',
  'services/webhook-dispatcher/hostile-receivers/hostile-receivers',
  'libs/embedded-postgres/embedded-postgres',
  'libs/events/kafka/credentials',
];

/** Starts the longest files of each project first, so that none of them runs alone at its end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => groupOf(a) - groupOf(b) || rankOf(a) - rankOf(b));
  }
}

const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((path) =>
    moduleId.replace(/(\.test)?\.ts$/, '').endsWith(`/${path}`),
  );
  return rank === -1 ? LONGEST.length : rank;
}

export default defineConfig({
  // libs/client exports its source under this condition, and what `npm pack` builds to its users.
  ssr: {
    resolve: { conditions: ['@creditlane/source', 'module', 'node', 'development|production'] },
  },
  test: {
    // Every test file makes its databases on one PostgreSQL server.
    globalSetup: [
      'test/setup/postgres.setup.ts',
      'test/setup/kafka.setup.ts',
      'test/setup/generated-requests.setup.ts',
    ],
    // Three at a time on two cores, because tests wait for about a third of their time.
    pool: 'forks',
    maxWorkers: 3,
    // The files of one worker share its loaded modules: with a process per file, loading is more than half of the
    // CPU time of unit tests. A test must therefore end its sockets and timers and restore what it replaces.
    isolate: false,
    // For tests that hang; on a machine under load, tests of 2 s have taken more than 20 s.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    // Tests wait for conditions. The default of one second is too short on a machine under load.
    expect: { poll: { timeout: 15_000 } },
    retry: 0,
    allowOnly: false,
    sequence: { sequencer: LongestFirst },
    restoreMocks: true,
    unstubEnvs: true,
    projects: [
      { extends: true, test: { name: 'unit', include: UNIT, sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: 'promises', include: PROMISES, sequence: { groupOrder: 2 } } },
      {
        extends: true,
        test: {
          name: 'processes',
          include: TESTED_IN_PROCESSES,
          env: { CREDITLANE_TEST_RUN_MODE: 'processes' },
          globalSetup: 'test/setup/processes.setup.ts',
          setupFiles: 'test/setup/processes.skip.ts',
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
