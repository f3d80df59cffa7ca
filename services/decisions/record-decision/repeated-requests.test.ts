import { randomUUID } from 'node:crypto';
import { markInProgress } from '@creditlane/idempotency/duplicate-requests';
import { ageStoredAnswers } from '@creditlane/idempotency/test-stored-answers';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { beforeEach, describe, expect, test } from 'vitest';
import { asIntegration, decideOn, newSubmission, useSubmission } from '../test-decisions.ts';

let subject: string;
/** A request to record a decision, as its idempotency key identifies it. */
const REQUEST = {
  operation: 'creditlane.decisions.v1.DecisionsService/RecordDecision',
  requestDigest: Buffer.alloc(32),
};
const fixture = useSubmission();
beforeEach(() => {
  subject = randomUUID();
});

/** Records a decision; returns the answer's term, and whether the answer was a stored one. */
async function decide(
  idempotencyKey: string | undefined,
  term = 60,
  caller = subject,
  { service, submission } = fixture,
) {
  let replayed = false;
  const onReplayed = () => {
    replayed = true;
  };
  const context = { subject: caller, idempotencyKey, onReplayed };
  const answer = await decideOn(service, submission, { term }, context);
  return { term: answer.decision?.term, replayed };
}

/** The terms of the recorded decisions, in order, which are those of their events. */
const recorded = async ({ service, submission } = fixture) => {
  const { rows } = await service.sql.query(
    'SELECT seq, term FROM decisions WHERE application_id = $1 AND seq > 1 ORDER BY seq',
    [submission.applicationId],
  );
  await service.settled();
  const { applicationId } = submission;
  const events = service.events.filter((event) => event.applicationId === applicationId);
  expect(events.slice(1).map(({ decision }) => decision?.term)).toEqual(
    rows.map(({ term }) => term),
  );
  return rows.map(({ term }) => term);
};

test('a repeated request has no effect and gets the stored answer', async () => {
  expect(await decide('key')).toEqual({ term: 60, replayed: false });
  await decide('another key', 72);
  expect(await decide('key')).toEqual({ term: 60, replayed: true });
  expect(await recorded()).toEqual([60, 72]);
});

test('twenty duplicate requests at once have one effect and one answer', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => decide('key')));
  expect(answers.map(({ term }) => term)).toEqual(Array(20).fill(60));
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await recorded()).toEqual([60]);
});

test('duplicate requests that wait for one row lock have one effect and one answer', async () => {
  let duplicates: ReturnType<typeof decide>[] = [];
  await fixture.service.whileLocked(fixture.submission, async () => {
    duplicates = Array.from({ length: 4 }, () => decide('key'));
    await expect.poll(fixture.service.lockWaiters, { interval: 10 }).toHaveLength(2);
  });
  const answers = await Promise.all(duplicates);
  expect(answers.map(({ term }) => term)).toEqual(Array(4).fill(60));
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await recorded()).toEqual([60]);
});

test('of requests with one key and different bodies at once, one has an effect and the others are refused', async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => decide('key', index + 1)),
  );
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(7);
  for (const outcome of refused) {
    expect(outcome).toMatchObject({ reason: { kind: 'invalid', code: 'idempotency_key_reused' } });
  }
  expect(await recorded()).toHaveLength(1);
});

test('one key for two submissions at once has one effect, and the other request is refused', async () => {
  const other = newSubmission();
  await fixture.service.submit(other);
  const { applicationId, creditorId } = other;
  const elsewhere = fixture.service.client.recordDecision(
    { applicationId, creditorId, decision: { decision: DecisionValue.APPROVED } },
    asIntegration({ creditorId }, { subject, idempotencyKey: 'key' }),
  );
  const outcomes = await Promise.allSettled([decide('key'), elsewhere]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'idempotency_key_reused' },
  });
});

test('a key with another body is refused and changes nothing', async () => {
  await decide('key', 60);
  await expect(decide('key', 61)).rejects.toMatchObject({
    kind: 'invalid',
    code: 'idempotency_key_reused',
  });
  expect(await recorded()).toEqual([60]);
});

test('a request whose stored answer has expired, and is not yet purged, records a second decision', async () => {
  await decide('key', 60);
  await ageStoredAnswers(fixture.service.sql, 25, subject);
  const callCount = fixture.service.applications.callCount;
  expect(await decide('key', 61)).toEqual({ term: 61, replayed: false });
  expect(await decide('key', 61)).toEqual({ term: 61, replayed: true });
  expect(await recorded()).toEqual([60, 61]);
  expect(fixture.service.applications.callCount).toBe(callCount);
});

test('requests with the key of another caller, and requests without a key, each record a decision', async () => {
  await decide('key', 1);
  await decide('key', 2, randomUUID());
  await decide(undefined, 3);
  await decide(undefined, 3);
  expect(await recorded()).toEqual([1, 2, 3, 3]);
});

test('a key whose request was refused can be used again', async () => {
  const { applicationId, creditorId } = fixture.submission;
  const refusal = fixture.service.client.recordDecision(
    { applicationId, creditorId, decision: { decision: DecisionValue.DRAFT } },
    asIntegration({ creditorId }, { subject, idempotencyKey: 'key' }),
  );
  await expect(refusal).rejects.toMatchObject({ kind: 'invalid' });
  expect(await decide('key')).toEqual({ term: 60, replayed: false });
});

test('a caller whose scope no longer covers the submission does not get the stored answer', async () => {
  await decide('key');
  const { applicationId, creditorId } = fixture.submission;
  const request = {
    applicationId,
    creditorId,
    decision: { decision: DecisionValue.APPROVED, term: 60 },
  };
  for (const scope of [
    {},
    { creditorId: randomUUID() },
    { retailerId: fixture.submission.retailerId },
  ]) {
    const repeat = fixture.service.client.recordDecision(
      request,
      asIntegration(scope, { subject, idempotencyKey: 'key' }),
    );
    await expect(repeat).rejects.toMatchObject({ code: 'submission_not_found' });
  }
});

describe('while another transaction holds the submission’s lock for longer than the lock timeout', () => {
  const held = useSubmission({ LOCK_TIMEOUT: '1s' });
  const whileLocked = (work: () => Promise<unknown>) =>
    held.service.whileLocked(held.submission, work);
  const decideOnHeld = (key: string | undefined) => decide(key, 60, subject, held);

  test.each([undefined, 'key'])(
    'a request with the key %s is unavailable, with a time to retry after',
    async (key) => {
      await whileLocked(() =>
        expect(decideOnHeld(key)).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 1 }),
      );
      expect(await recorded(held)).toEqual([]);
      expect(await decideOnHeld(key)).toEqual({ term: 60, replayed: false });
    },
  );

  test('a request whose duplicate request is in progress is a conflict', async () => {
    const inProgress = { kind: 'conflict', code: 'idempotency_in_progress' };
    await whileLocked(async () => {
      const duplicate = await held.service.sql.connect();
      try {
        await duplicate.query('BEGIN');
        await markInProgress(duplicate, { ...REQUEST, callerId: subject, key: 'key' });
        await expect(decideOnHeld('key')).rejects.toMatchObject(inProgress);
        await expect(decideOnHeld('another')).rejects.toMatchObject({ kind: 'unavailable' });
      } finally {
        await duplicate.query('ROLLBACK');
        duplicate.release();
      }
    });
    expect(await recorded(held)).toEqual([]);
  });
});
