/** One fault run: load, a fault in the middle of the load, and the check of everything observed. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Random, seededRandom } from '@creditlane/runtime/test-seeded-random';
import { expect } from 'vitest';
import { eventually } from '../platform/eventually.ts';
import { findWarnings } from './find-warnings.ts';
import { checkHistory } from './history/check-history.ts';
import type { History, Write } from './history/history.ts';
import { formatViolation } from './history/violation.ts';
import { prepareTenant } from './prepare-tenant.ts';
import {
  type ReceiverAddress,
  type RecordingReceiver,
  startRecordingReceiver,
} from './recording-receiver.ts';
import { RunDatabases } from './run-databases.ts';
import type { RunProfile } from './run-profile.ts';
import { printLine, printSummary } from './run-summary.ts';
import type { SystemUnderTest } from './system-under-test.ts';
import { REFUSED_DECISION, readDecisionsFromApi, runWriteLoad } from './write-load.ts';

/** What a run needs to know of the system: where it is reached, its databases, and its output where the test launched it. */
type LoadedSystem = Pick<SystemUnderTest, 'demo' | 'databaseUrl'> &
  Partial<Pick<SystemUnderTest, 'output'>>;

export interface FaultRun extends RunProfile {
  /** What the printed lines of the run begin with. */
  name: string;
  system: LoadedSystem;
  /** Where the webhooks' receiver listens; on a free port of loopback when left out. */
  receiverAt?: ReceiverAddress;
  /** Callers send no idempotency keys. */
  withoutKeys?: boolean;
  fault: (context: FaultContext) => Promise<void>;
}

/** What a fault may use and must report. */
export interface FaultContext {
  receiver: RecordingReceiver;
  random: Random;
  /** Notes which webhooks the database has as delivered: none of these may be sent again. */
  noteDelivered(): Promise<void>;
  /** Resolves once a write that began after this call is accepted. */
  waitForWrite(): Promise<void>;
  /** Runs work that ends or stops so many dispatchers, one if left out: a webhook under way meanwhile may be sent again. */
  crash(work: () => Promise<void>, dispatchers?: number): Promise<void>;
}

/**
 * Twice a dispatcher's limit of requests to one destination: its requests under way, and those whose results are not recorded,
 * are so many at most.
 */
const MAX_IN_FLIGHT = 2 * 64;

/** How many of the platform's last warnings and errors the report of a violation quotes. */
const MAX_WARNINGS = 60;

/** How long each read after the load waits for its answer: it is not repeated. */
const LAST_READS_MS = 30_000;

/** How long the load goes on after the fault is over. */
const LOAD_AFTER_FAULT_MS = 1_000;

/**
 * FAULTS_SEED, or a random seed. One seed gives one moment of the fault, and the same writes until a request is repeated: the
 * pause before it is drawn from the same generator.
 */
function chooseSeed(): number {
  const seed = process.env.FAULTS_SEED;
  return seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(seed);
}

/** Runs the fault under load and expects that every promise was kept. Returns what was observed. */
export async function runWithFault({
  system,
  receiverAt,
  fault,
  ...options
}: FaultRun): Promise<History> {
  const { name, loadMs, settleWithinMs } = options;
  const seed = chooseSeed();
  const random = seededRandom(seed);
  printLine(`${name}: FAULTS_SEED=${seed} ${JSON.stringify(options)}`);
  const receiver = await startRecordingReceiver(receiverAt);
  try {
    const { history, writer, applications } = await prepareTenant(
      system,
      receiver,
      options,
      random,
    );
    const databases = new RunDatabases(system.databaseUrl.bind(system), applications);
    const noteDelivered = async () =>
      void history.deliveries.push(...(await databases.readDelivered()));
    const waitForWrite = async () => {
      const fromMs = performance.now();
      const isNew = ({ startedMs, outcome }: Write) => startedMs >= fromMs && outcome === 'ok';
      const isAccepted = async () => history.writes.some(isNew) || undefined;
      await eventually('accepted write', isAccepted, options.giveUpAfterMs);
    };
    const crash = async (work: () => Promise<void>, dispatchers = 1) => {
      const fromMs = performance.now();
      await work();
      history.crashes.push({
        fromMs,
        untilMs: performance.now(),
        maxInFlight: dispatchers * MAX_IN_FLIGHT,
      });
    };

    const stop = new AbortController();
    const load = runWriteLoad(writer, { ...options, stop: stop.signal, applications }, history);
    try {
      await delay(loadMs * (0.2 + 0.2 * random()));
      await noteDelivered();
      await fault({ receiver, random, noteDelivered, waitForWrite, crash });
      await delay(LOAD_AFTER_FAULT_MS);
    } finally {
      stop.abort();
      await load;
    }
    await databases.waitUntilSettled(settleWithinMs);
    await noteDelivered();
    for (const id of applications) {
      const read = await readDecisionsFromApi({ ...writer, requestTimeoutMs: LAST_READS_MS }, id);
      if ('reason' in read)
        throw new Error(`the API did not return the decisions of ${id}: ${read.reason}`);
      history.reads.push(read);
    }
    history.decisions.push(...(await databases.readDecisions()));
    history.events.push(...(await databases.readEvents()));
    history.overdueAttempts.push(...(await databases.readOverdueAttempts()));
    history.webhooks.push(...receiver.webhooks);
    printSummary(name, history);
    expectNoViolation(history, system.output);
    return history;
  } finally {
    await receiver.close();
  }
}

function expectNoViolation(history: History, output = ''): void {
  const violations = checkHistory(history).map(formatViolation);
  // Continuous integration may keep only the end of the output, which has the messages of the assertions.
  const report = [...violations, ...history.crashes.map((it) => `crash: ${JSON.stringify(it)}`)];
  expect(violations, [...report, ...findWarnings(output).slice(-MAX_WARNINGS)].join('\n')).toEqual(
    [],
  );
  // Exactly the writes of the invalid decision are refused.
  const unexpected = history.writes.filter(
    ({ outcome, decision }) => (outcome === 'fail') !== (decision === REFUSED_DECISION),
  );
  expect(unexpected).toEqual([]);
}
