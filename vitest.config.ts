// How the tests run: unit tests beside the source and the promises in test/, and some of these promises again with each
// service as a process of its own.
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const TESTS = ['libs', 'services', 'deploy', 'bench', 'test'].map((it) => `${it}/**/*.test.ts`);
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

/**
 * The files that start first: those that take half a minute and more, the longest first, so that none of them runs alone
 * at the end. The last of these compares latencies, and so begins when no platform starts beside it.
 */
const FIRST = [
  'test/faults/processes',
  'test/npm-up',
  'test/faults/one-process',
  'test/npm-start',
  'libs/events/kafka/outage',
  'test/compose',
  'libs/events/kafka/credentials',
  'test/startup-order',
  'test/earlier-installation',
  'test/monitoring/monitoring',
  'test/access/access-matrix',
  'test/tidy',
  'test/conformance/documented-examples',
  'libs/embedded-postgres/embedded-postgres',
  'services/webhook-dispatcher/hostile-receivers/hostile-receivers',
];

/** The project `processes` comes before all: a worker that turns to another project loads all modules anew. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId, project }: TestSpecification): number {
  if (project.name === 'processes') return -1;
  const rank = FIRST.findIndex((path) =>
    moduleId.replace(/(\.test)?\.ts$/, '').endsWith(`/${path}`),
  );
  return rank === -1 ? FIRST.length : rank;
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
      { extends: true, test: { name: 'tests', include: TESTS } },
      {
        extends: true,
        test: {
          name: 'processes',
          include: TESTED_IN_PROCESSES,
          env: { CREDITLANE_TEST_RUN_MODE: 'processes' },
          globalSetup: 'test/setup/processes.setup.ts',
          setupFiles: 'test/setup/processes.skip.ts',
        },
      },
    ],
  },
});
