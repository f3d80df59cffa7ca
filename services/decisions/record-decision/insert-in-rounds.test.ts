import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { TestSubmission } from '../test-applications.ts';
import { decideOn, newSubmission, useSubmission } from '../test-decisions.ts';

const LOCK_TIMEOUT_MS = 4_000;
const SUBJECT = randomUUID();
const fixture = useSubmission({ LOCK_TIMEOUT: `${LOCK_TIMEOUT_MS}ms` });

const decide = (submission: TestSubmission, decision: object = {}, key?: string) =>
  decideOn(fixture.service, submission, decision, {
    subject: SUBJECT,
    ...(key && { idempotencyKey: key }),
  });

/** New submissions that the service has received. */
async function submitNew(count: number): Promise<TestSubmission[]> {
  const submissions = Array.from({ length: count }, newSubmission);
  for (const submission of submissions) await fixture.service.submit(submission);
  return submissions;
}

/** How many transactions have written decisions. */
const countRounds = async () => {
  const { rows } = await fixture.service.sql.query<{ rounds: number }>(
    'SELECT count(DISTINCT xmin::text)::int AS rounds FROM decisions WHERE seq > 1',
  );
  return rows[0]?.rounds ?? 0;
};

test('decisions that arrive together share statements, and each has its own answer and event', async () => {
  const submissions = await submitNew(20);
  // Once their tokens are signed, all decisions arrive within a few turns of the event loop.
  await Promise.all(submissions.map((it) => decide(it)));
  const before = await countRounds();
  const answers = await Promise.all(
    submissions.map((it, n) => decide(it, { term: n + 1, conditions: `${n}` })),
  );
  expect((await countRounds()) - before).toBeLessThanOrEqual(3);
  expect(answers.map(({ decision }) => decision?.term)).toEqual(submissions.map((_, n) => n + 1));

  await fixture.service.settled();
  for (const [n, { applicationId, retailerId }] of submissions.entries()) {
    const event = fixture.service.events.findLast((it) => it.applicationId === applicationId);
    expect(event).toMatchObject({
      sequence: 3n,
      retailerId,
      decision: { term: n + 1, conditions: `${n}` },
      terms: { term: n + 1, interestRate: 7.5 },
      worksheet: { term: 60 },
    });
  }
});

test('a locked submission delays no decision on another submission', async () => {
  const [held, ...others] = (await submitNew(6)) as [TestSubmission, ...TestSubmission[]];
  // Once their tokens are signed, all decisions arrive within a few turns of the event loop.
  await Promise.all([held, ...others].map((it) => decide(it)));
  const othersEndBeforeHeld = async () => {
    let [tookMs, isWaiting] = [Infinity, false];
    let last: Promise<unknown> = Promise.resolve();
    await fixture.service.whileLocked(held, async () => {
      let hasEnded = false;
      last = decide(held).finally(() => {
        hasEnded = true;
      });
      last.catch(() => undefined);
      const startedMs = performance.now();
      await Promise.all(others.map((it) => decide(it)));
      tookMs = performance.now() - startedMs;
      const waits = async () => hasEnded || (await fixture.service.lockWaiters()).length === 1;
      await expect.poll(waits).toBe(true);
      isWaiting = !hasEnded;
    });
    return tookMs < LOCK_TIMEOUT_MS && isWaiting && (await last.then(() => true));
  };
  // A busy machine may take as long for decisions that wait for no lock. If they waited for it, every attempt would take that long.
  await expect.poll(othersEndBeforeHeld, { timeout: 30_000 }).toBe(true);
});

test('decisions that wait for a locked submission leave connections for other calls and events', async () => {
  const [held, other] = (await submitNew(2)) as [TestSubmission, TestSubmission];
  const waiting: Promise<unknown>[] = [];
  await fixture.service.whileLocked(held, async () => {
    waiting.push(...Array.from({ length: 40 }, () => decide(held)));
    await expect.poll(fixture.service.lockWaiters).toHaveLength(2);
    await decide(other);
    await fixture.service.settled();
    const events = fixture.service.events.filter((it) => it.applicationId === other.applicationId);
    expect(events.map(({ sequence }) => sequence)).toEqual([1n, 2n]);
    // Of the pool's eight connections, the forty decisions hold no more than two; one whose time is over holds none.
    expect((await fixture.service.lockWaiters()).length).toBeLessThanOrEqual(2);
  });
  const recorded = (await Promise.allSettled(waiting)).filter((it) => it.status === 'fulfilled');
  const { rows } = await fixture.service.sql.query(
    'SELECT last_seq FROM submissions WHERE application_id = $1',
    [held.applicationId],
  );
  expect(rows).toEqual([{ last_seq: 1 + recorded.length }]);
});

test('a decision that the database refuses prevents no other decision', async () => {
  const submissions = await submitNew(6);
  const [full] = submissions as [TestSubmission];
  // The sequence overflows after the statement has locked and advanced the row.
  await fixture.service.sql.query(
    'UPDATE submissions SET last_seq = 2147483647 WHERE application_id = $1',
    [full.applicationId],
  );
  const outcomes = await Promise.allSettled(submissions.map((it) => decide(it)));
  expect(outcomes.map(({ status }) => status)).toEqual([
    'rejected',
    ...submissions.slice(1).fill('fulfilled' as never),
  ]);
});

test('duplicate requests in one round have one effect, and requests with other keys one each', async () => {
  const submissions = await submitNew(4);
  const key = randomUUID();
  const [first] = submissions as [TestSubmission];
  await Promise.all([
    decide(first, {}, key),
    decide(first, {}, key),
    decide(first, {}, key),
    ...submissions.map((it) => decide(it, {}, randomUUID())),
  ]);
  const { rows } = await fixture.service.sql.query<{ last_seq: number }>(
    'SELECT last_seq FROM submissions WHERE application_id = ANY ($1) ORDER BY last_seq',
    [submissions.map(({ applicationId }) => applicationId)],
  );
  expect(rows.map(({ last_seq }) => last_seq)).toEqual([2, 2, 2, 3]);
});
