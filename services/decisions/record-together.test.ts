import { randomUUID } from 'node:crypto';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { expect, test } from 'vitest';
import {
  asIntegration,
  newSubmission,
  type Submitted,
  withSubmissionToDecide,
} from './test-decisions.ts';

const LOCK_TIMEOUT_MS = 4_000;
const world = withSubmissionToDecide({ LOCK_TIMEOUT: `${LOCK_TIMEOUT_MS}ms` });

const decide = ({ applicationId, creditorId }: Submitted, decision: object = {}, key?: string) =>
  world.service.client.recordDecision(
    { applicationId, creditorId, decision: { decision: DecisionValue.APPROVED, ...decision } },
    asIntegration({ creditorId }, { subject: SUBJECT, ...(key && { idempotencyKey: key }) }),
  );
const SUBJECT = randomUUID();

/** Submissions that the service has heard of. */
async function submissions(count: number): Promise<Submitted[]> {
  const made = Array.from({ length: count }, newSubmission);
  for (const submission of made) await world.service.submit(submission);
  return made;
}

/** How many transactions have written decisions. */
const roundsSince = async () => {
  const { rows } = await world.service.sql.query<{ rounds: number }>(
    'SELECT count(DISTINCT xmin::text)::int AS rounds FROM decisions WHERE seq > 1',
  );
  return rows[0]?.rounds ?? 0;
};

test('decisions that come together go to the database together, each as if it were alone', async () => {
  const made = await submissions(20);
  const before = await roundsSince();
  const answers = await Promise.all(
    made.map((it, n) => decide(it, { term: n, conditions: `${n}` })),
  );
  expect((await roundsSince()) - before).toBeLessThanOrEqual(3);
  expect(answers.map(({ decision }) => decision?.term)).toEqual(made.map((_, n) => n));

  await world.service.settled();
  for (const [n, { applicationId, retailerId }] of made.entries()) {
    const event = world.service.events.findLast((it) => it.applicationId === applicationId);
    expect(event).toMatchObject({
      sequence: 2n,
      retailerId,
      decision: { term: n, conditions: `${n}` },
      terms: { term: n, interestRate: 7.5 },
      worksheet: { term: 60 },
    });
  }
});

test('of one submission each takes a sequence of its own, and the events keep their order', async () => {
  const made = await submissions(5);
  await Promise.all(Array.from({ length: 50 }, (_, n) => decide(made[n % 5] as Submitted)));
  await world.service.settled();
  for (const { applicationId } of made) {
    const events = world.service.events.filter((it) => it.applicationId === applicationId);
    expect(events.map(({ sequence }) => Number(sequence))).toEqual(
      Array.from({ length: 11 }, (_, n) => n + 1),
    );
  }
});

test('a submission that somebody holds keeps no other one waiting', async () => {
  const [held, ...others] = (await submissions(6)) as [Submitted, ...Submitted[]];
  // Once their tokens are signed, all of them come in the same turn of the event loop.
  await Promise.all([held, ...others].map((it) => decide(it)));
  let last: Promise<unknown> = Promise.resolve();
  await world.service.whileHeld(held, async () => {
    last = decide(held);
    const startedMs = performance.now();
    await Promise.all(others.map((it) => decide(it)));
    expect(performance.now() - startedMs).toBeLessThan(LOCK_TIMEOUT_MS);
    await expect.poll(world.service.lockWaiters).toHaveLength(1);
  });
  await last;
});

test('what the database refuses keeps nothing else from being written', async () => {
  const made = await submissions(6);
  const [full] = made as [Submitted];
  // More than a sequence can be is reached after the row was locked and advanced.
  await world.service.sql.query(
    'UPDATE submissions SET last_seq = 2147483647 WHERE application_id = $1',
    [full.applicationId],
  );
  const outcomes = await Promise.allSettled(made.map((it) => decide(it)));
  expect(outcomes.map(({ status }) => status)).toEqual([
    'rejected',
    ...made.slice(1).fill('fulfilled' as never),
  ]);
});

test('twins that come together have one effect, and so has each key beside them', async () => {
  const made = await submissions(4);
  const key = randomUUID();
  const [first] = made as [Submitted];
  await Promise.all([
    decide(first, {}, key),
    decide(first, {}, key),
    decide(first, {}, key),
    ...made.map((it) => decide(it, {}, randomUUID())),
  ]);
  const { rows } = await world.service.sql.query<{ last_seq: number }>(
    'SELECT last_seq FROM submissions WHERE application_id = ANY ($1) ORDER BY last_seq',
    [made.map(({ applicationId }) => applicationId)],
  );
  expect(rows.map(({ last_seq }) => last_seq)).toEqual([2, 2, 2, 3]);
});
