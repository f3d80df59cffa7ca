// A call without an idempotency key whose connection breaks is attempted again, and has one effect.
import { randomUUID } from 'node:crypto';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { type FirstAttempt, loseFirstAnswer } from '@creditlane/rpc/retries/test-lost-answer';
import type { CallWrapper } from '@creditlane/rpc/test-mount';
import { expect, test } from 'vitest';
import { asIntegration, newSubmission, useSubmission } from '../test-decisions.ts';

const fixture = useSubmission();

const request = () => {
  const { applicationId, creditorId } = fixture.submission;
  return { applicationId, creditorId, decision: { decision: DecisionValue.APPROVED, term: 60 } };
};

/** Records a decision without a key, over a connection that breaks after `first` ran the first attempt. */
async function decide(first: FirstAttempt, subject = randomUUID()) {
  const { creditorId } = fixture.submission;
  const replayed: string[] = [];
  const onReplayed = () => void replayed.push('replayed');
  const context = asIntegration({ creditorId }, { subject, onReplayed });
  const { decision } = await fixture.service
    .clientThrough(loseFirstAnswer(first))
    .recordDecision(request(), context);
  expect(replayed).toEqual([]);
  return decision?.term;
}

/** The sequences of the submission's decisions, which are those of its events. */
async function sequences() {
  const { applicationId } = fixture.submission;
  const { rows } = await fixture.service.sql.query(
    'SELECT seq FROM decisions WHERE application_id = $1 ORDER BY seq',
    [applicationId],
  );
  await fixture.service.settled();
  const events = fixture.service.events.filter((event) => event.applicationId === applicationId);
  const published = events.map(({ sequence }) => Number(sequence));
  expect(published).toEqual(rows.map(({ seq }) => seq));
  return published;
}

test('a call whose first attempt committed before its answer was lost has one effect', async () => {
  expect(await decide((send) => send())).toBe(60);
  expect(await sequences()).toEqual([1, 2]);
});

test('a call whose first attempt never arrived has one effect', async () => {
  expect(await decide(async () => {})).toBe(60);
  expect(await sequences()).toEqual([1, 2]);
});

test('a call whose first attempt still waits for a lock has one effect', async () => {
  let firstAttempt: Promise<unknown> | undefined;
  let answer: Promise<unknown> | undefined;
  await fixture.service.whileLocked(fixture.submission, async () => {
    answer = decide(async (send) => {
      firstAttempt = send();
      await expect.poll(fixture.service.lockWaiters, { interval: 10 }).toHaveLength(1);
    });
    await expect.poll(fixture.service.lockWaiters, { interval: 10 }).toHaveLength(2);
  });
  expect(await answer).toBe(60);
  await firstAttempt;
  expect(await sequences()).toEqual([1, 2]);
});

test('a call whose first attempt arrives after the second has one effect', async () => {
  let firstAttempt: (() => Promise<unknown>) | undefined;
  const answer = await decide(async (send) => {
    firstAttempt = send;
  });
  expect(answer).toBe(60);
  await firstAttempt?.();
  expect(await sequences()).toEqual([1, 2]);
});

test('two calls with the same decision have an effect each', async () => {
  const subject = randomUUID();
  await decide((send) => send(), subject);
  await decide((send) => send(), subject);
  expect(await sequences()).toEqual([1, 2, 3]);
});

test('the retry token of a call for another submission gets no answer', async () => {
  await decide((send) => send());
  const other = newSubmission();
  await fixture.service.submit(other);
  const { rows } = await fixture.service.sql.query(
    'SELECT call_id FROM decisions WHERE application_id = $1 AND seq = 2',
    [fixture.submission.applicationId],
  );
  fixture.submission = other;
  const { creditorId } = other;
  const withEarlierToken: CallWrapper = (unary) => (method, signal, timeoutMs, header, input) =>
    unary(method, signal, timeoutMs, { ...header, 'call-id': rows[0].call_id }, input);
  const call = fixture.service
    .clientThrough(withEarlierToken)
    .recordDecision(request(), asIntegration({ creditorId }));
  await expect(call).rejects.toMatchObject({ kind: 'internal' });
  expect(await sequences()).toEqual([1]);
});
