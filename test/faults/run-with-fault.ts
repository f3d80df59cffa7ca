/** One run: load, a fault in the middle of it, and the judgement of all that was seen. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { readDecisions, readEvents, readRecorded, untilQuiet } from './database-state.ts';
import { judge } from './history/check-history.ts';
import type { History } from './history/history.ts';
import { randomFrom } from './history/seeded-random.ts';
import { describe } from './history/violation.ts';
import { settleIn } from './prepare-tenant.ts';
import { type Receiver, startReceiver } from './recording-receiver.ts';
import type { Form } from './run-profile.ts';
import { say, summarise } from './run-summary.ts';
import type { Subject } from './system-under-test.ts';
import { load, REFUSED, readHistory } from './write-load.ts';

/** What a fault may do, and must say, while the load goes on. */
export interface Scene {
  subject: Subject;
  receiver: Receiver;
  random: () => number;
  /** Notes what the database holds for delivered: it must not be sent again. */
  note(): Promise<void>;
  /** Does something after which requests under way may have been made in vain. */
  crash(work: () => Promise<void>): Promise<void>;
}

/** The dispatcher's default bound for one destination, twice: half may be waiting to be recorded. */
const IN_FLIGHT = 2 * 64;

/** How long the load goes on once the fault is over. */
const AFTERWARDS_MS = 1_000;

/** The same seed gives the same load, and the same moment for the fault. */
function seedOfRun(): number {
  const given = process.env.FAULTS_SEED;
  return given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
}

/** Runs the fault under load and expects that every promise was kept. */
export async function run(
  name: string,
  subject: Subject,
  options: Form & { keyless?: boolean },
  fault: (scene: Scene) => Promise<void>,
): Promise<History> {
  const seed = seedOfRun();
  const random = randomFrom(seed);
  say(`${name}: FAULTS_SEED=${seed} ${JSON.stringify(options)}`);
  const receiver = await startReceiver();
  try {
    const { history, writer, applications } = await settleIn(
      subject,
      receiver,
      options.applications,
      random,
    );
    const find = subject.databaseUrl.bind(subject);
    const note = async () =>
      void history.recorded.push(...(await readRecorded(find, applications)));
    const crash = async (work: () => Promise<void>) => {
      const fromMs = performance.now();
      await work();
      history.crashes.push({ fromMs, untilMs: performance.now(), inFlight: IN_FLIGHT });
    };

    const over = new AbortController();
    const loaded = load(writer, { ...options, over: over.signal, applications }, history);
    try {
      await sleep(options.forMs * (0.2 + 0.2 * random()));
      await note();
      await fault({ subject, receiver, random, note, crash });
      await sleep(AFTERWARDS_MS);
    } finally {
      over.abort();
      await loaded;
    }
    await untilQuiet(find, applications, options.quietWithinMs);
    await note();
    for (const id of applications) {
      const read = await readHistory(writer, id);
      if (read === undefined) throw new Error(`the API does not give the history of ${id}`);
      history.reads.push(read);
    }
    history.decisions.push(...(await readDecisions(find, applications)));
    history.events.push(...(await readEvents(find, applications)));
    history.arrivals.push(...receiver.arrivals);
    summarise(name, history);
    expectKept(history);
    return history;
  } finally {
    await receiver.close();
  }
}

function expectKept(history: History): void {
  const offences = judge(history);
  for (const offence of offences.slice(0, 20)) say(describe(offence));
  expect(offences.map(({ rule, what }) => `${rule}: ${what}`)).toEqual([]);
  const wronged = history.writes.filter(
    ({ outcome, decision }) => (outcome === 'fail') !== (decision === REFUSED),
  );
  expect(wronged).toEqual([]);
}
