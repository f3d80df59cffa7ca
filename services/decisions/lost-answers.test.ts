// A write without an idempotency key whose replica dies under it is made again, and has one effect.
import { randomUUID } from 'node:crypto';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { type FirstAttempt, loseFirstAnswer } from '@creditlane/rpc/retries/test-lost-answer';
import type { TransportWrapper } from '@creditlane/rpc/test-mount';
import { unaryTransport } from '@creditlane/rpc/transport';
import { expect, test } from 'vitest';
import { asIntegration, newSubmission, withSubmissionToDecide } from './test-decisions.ts';

const world = withSubmissionToDecide();

const request = () => {
  const { applicationId, creditorId } = world.submission;
  return { applicationId, creditorId, decision: { decision: DecisionValue.APPROVED, term: 60 } };
};

/** Writes without a key, over a connection on which this becomes of the first attempt. */
async function decide(first: FirstAttempt, subject = randomUUID()) {
  const { creditorId } = world.submission;
  const replayed: string[] = [];
  const onReplayed = () => void replayed.push('replayed');
  const context = asIntegration({ creditorId }, { subject, onReplayed });
  const { decision } = await world.service
    .by(loseFirstAnswer(first))
    .recordDecision(request(), context);
  expect(replayed).toEqual([]);
  return decision?.term;
}

/** The sequences of the submission's decisions and events, which are the same. */
async function told() {
  const { applicationId } = world.submission;
  const { rows } = await world.service.sql.query(
    'SELECT seq FROM decisions WHERE application_id = $1 ORDER BY seq',
    [applicationId],
  );
  await world.service.settled();
  const events = world.service.events.filter((event) => event.applicationId === applicationId);
  const sequences = events.map(({ sequence }) => Number(sequence));
  expect(sequences).toEqual(rows.map(({ seq }) => seq));
  return sequences;
}

test('whose first attempt was done before its answer was lost', async () => {
  expect(await decide((send) => send())).toBe(60);
  expect(await told()).toEqual([1, 2]);
});

test('whose first attempt never arrived', async () => {
  expect(await decide(async () => {})).toBe(60);
  expect(await told()).toEqual([1, 2]);
});

test('whose first attempt still waits in the database when the second comes', async () => {
  let orphan: Promise<unknown> | undefined;
  let answer: Promise<unknown> | undefined;
  await world.service.whileHeld(world.submission, async () => {
    answer = decide(async (send) => {
      orphan = send();
      await expect.poll(world.service.lockWaiters, { interval: 10 }).toHaveLength(1);
    });
    await expect.poll(world.service.lockWaiters, { interval: 10 }).toHaveLength(2);
  });
  expect(await answer).toBe(60);
  await orphan;
  expect(await told()).toEqual([1, 2]);
});

test('whose first attempt reaches the database behind the second', async () => {
  let orphan: (() => Promise<unknown>) | undefined;
  const answer = await decide(async (send) => {
    orphan = send;
  });
  expect(answer).toBe(60);
  await orphan?.();
  expect(await told()).toEqual([1, 2]);
});

test('and does not hide another write of the same decision', async () => {
  const subject = randomUUID();
  await decide((send) => send(), subject);
  await decide((send) => send(), subject);
  expect(await told()).toEqual([1, 2, 3]);
});

test('an id of a call that was for another submission answers for none', async () => {
  await decide((send) => send());
  const other = newSubmission();
  await world.service.submit(other);
  const { rows } = await world.service.sql.query(
    'SELECT call_id FROM decisions WHERE application_id = $1 AND seq = 2',
    [world.submission.applicationId],
  );
  world.submission = other;
  const { creditorId } = other;
  const naming: TransportWrapper = ({ unary }) =>
    unaryTransport((method, signal, timeoutMs, header, input) =>
      unary(method, signal, timeoutMs, { ...header, 'call-id': rows[0].call_id }, input),
    );
  const call = world.service.by(naming).recordDecision(request(), asIntegration({ creditorId }));
  await expect(call).rejects.toMatchObject({ kind: 'internal' });
  expect(await told()).toEqual([1]);
});
