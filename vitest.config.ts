// How the tests run: unit tests beside the source and the promises in test/, what takes minutes, and some promises again
// on the platform with each service as a process of its own.
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const TESTS = ['libs', 'services', 'deploy', 'bench', 'tasks', 'test'].map(
  (it) => `${it}/**/*.test.ts`,
);
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

/** What takes minutes, and so is left out of `npm test` without arguments. */
const LONG = [
  'test/faults/processes.test.ts',
  'test/npm-up.test.ts',
  'test/faults/one-process.test.ts',
  'libs/events/kafka/outage.test.ts',
];

/** The other slow files: first those that start programs, which take processors from all others. */
const SLOW = [
  'test/npm-start.test.ts',
  'test/compose.test.ts',
  'libs/events/kafka/credentials.test.ts',
  'test/startup-order.test.ts',
  'test/earlier-installation.test.ts',
  'test/monitoring/monitoring.test.ts',
  'test/access/access-matrix.test.ts',
  'test/tidy.test.ts',
  'test/conformance/documented-examples.test.ts',
  'libs/embedded-postgres/embedded-postgres.test.ts',
];

/**
 * For tests of the platform in processes: after all others, and one file at a time. With three such platforms on two cores, each
 * statement has taken seconds, and a dispatcher has lost leases that it could not renew in time.
 */
const ALONE = { maxWorkers: 1, sequence: { groupOrder: 1 } };

/** The projects of a group in the order in which they run: vitest replaces a worker between two, and the new one loads every module. */
const PROJECTS = ['processes', 'long', 'tests'];

/** Sorts by project, then the slow files before all others, so that none of them runs alone at the end. */
class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => projectOf(a) - projectOf(b) || rankOf(a) - rankOf(b));
  }
}

const projectOf = ({ project }: TestSpecification) => PROJECTS.indexOf(project.name);

function rankOf({ moduleId }: TestSpecification): number {
  const slow = [...LONG, ...SLOW];
  const rank = slow.findIndex((name) => moduleId.endsWith(`/${name}`));
  return rank === -1 ? slow.length : rank;
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
    setupFiles: ['test/setup/cpu-time.setup.ts'],
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
    // tasks/run-test-files.ts runs the files that failed once more, at the end of a whole run.
    retry: 0,
    allowOnly: false,
    sequence: { sequencer: SlowFilesFirst },
    restoreMocks: true,
    unstubEnvs: true,
    projects: [
      {
        extends: true,
        test: { name: 'tests', include: TESTS, exclude: [...configDefaults.exclude, ...LONG] },
      },
      { extends: true, test: { ...ALONE, name: 'long', include: LONG } },
      {
        extends: true,
        test: {
          ...ALONE,
          name: 'processes',
          include: TESTED_IN_PROCESSES,
          env: { CREDITLANE_TEST_RUN_MODE: 'processes' },
          globalSetup: 'test/setup/processes.setup.ts',
          setupFiles: ['test/setup/processes.skip.ts'],
        },
      },
    ],
  },
});
