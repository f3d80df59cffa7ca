import { randomUUID } from 'node:crypto';
import { announceRequest } from '@creditlane/idempotency/stored-answers';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { beforeEach, describe, expect, test } from 'vitest';
import { asIntegration, newSubmission, withSubmissionToDecide } from './test-decisions.ts';

let subject: string;
/** How the service names a write to its idempotency keys. */
const named = {
  operation: 'creditlane.decisions.v1.DecisionsService/RecordDecision',
  requestDigest: Buffer.alloc(32),
};
const world = withSubmissionToDecide({ LOCK_TIMEOUT: '1s' });
beforeEach(() => {
  subject = randomUUID();
});

/** Writes with a key (or none) and tells what came back, and whether it had before. */
async function decide(idempotencyKey: string | undefined, term = 60, caller = subject) {
  const { applicationId, creditorId } = world.submission;
  let replayed = false;
  const onReplayed = () => {
    replayed = true;
  };
  const answer = await world.service.client.recordDecision(
    { applicationId, creditorId, decision: { decision: DecisionValue.APPROVED, term } },
    asIntegration({ creditorId }, { subject: caller, idempotencyKey, onReplayed }),
  );
  return { term: answer.decision?.term, replayed };
}

const recorded = async () => {
  const { rows } = await world.service.sql.query(
    'SELECT seq, term FROM decisions WHERE application_id = $1 AND seq > 1 ORDER BY seq',
    [world.submission.applicationId],
  );
  await world.service.settled();
  const { applicationId } = world.submission;
  const events = world.service.events.filter((event) => event.applicationId === applicationId);
  // The history and the events never tell different stories.
  expect(events.slice(1).map(({ decision }) => decision?.term)).toEqual(
    rows.map(({ term }) => term),
  );
  return rows.map(({ term }) => term);
};

test('a repeat has no effect and gets the stored answer', async () => {
  expect(await decide('key')).toEqual({ term: 60, replayed: false });
  await decide('another key', 72);
  expect(await decide('key')).toEqual({ term: 60, replayed: true });
  expect(await recorded()).toEqual([60, 72]);
});

test('twenty twins at once have one effect and one answer', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => decide('key')));
  expect(answers.map(({ term }) => term)).toEqual(Array(20).fill(60));
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await recorded()).toEqual([60]);
});

test('twins that wait for one and the same row have one effect and one answer', async () => {
  let twins: ReturnType<typeof decide>[] = [];
  await world.service.whileHeld(world.submission, async () => {
    twins = Array.from({ length: 4 }, () => decide('key'));
    await expect.poll(world.service.lockWaiters, { interval: 10 }).toHaveLength(4);
  });
  const answers = await Promise.all(twins);
  expect(answers.map(({ term }) => term)).toEqual(Array(4).fill(60));
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await recorded()).toEqual([60]);
});

test('twins of different bodies at once have one effect, and the others are refused', async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => decide('key', index)),
  );
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(7);
  for (const outcome of refused) {
    expect(outcome).toMatchObject({ reason: { kind: 'invalid', code: 'idempotency_key_reused' } });
  }
  expect(await recorded()).toHaveLength(1);
});

test('one key for two submissions at once has one effect', async () => {
  const other = newSubmission();
  await world.service.submit(other);
  const { applicationId, creditorId } = other;
  const elsewhere = world.service.client.recordDecision(
    { applicationId, creditorId, decision: { decision: DecisionValue.APPROVED } },
    asIntegration({ creditorId }, { subject, idempotencyKey: 'key' }),
  );
  const outcomes = await Promise.allSettled([decide('key'), elsewhere]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'idempotency_key_reused' },
  });
});

test('the key with another body is refused and changes nothing', async () => {
  await decide('key', 60);
  await expect(decide('key', 61)).rejects.toMatchObject({
    kind: 'invalid',
    code: 'idempotency_key_reused',
  });
  expect(await recorded()).toEqual([60]);
});

test('an answer that has outlived its day is as if it had never been, purged or not', async () => {
  await decide('key', 60);
  await world.service.sql.query(
    "UPDATE idempotency SET created_at = now() - interval '25 hours' WHERE caller_id = $1",
    [subject],
  );
  const asked = world.service.applications.asked;
  expect(await decide('key', 61)).toEqual({ term: 61, replayed: false });
  expect(await decide('key', 61)).toEqual({ term: 61, replayed: true });
  expect(await recorded()).toEqual([60, 61]);
  expect(world.service.applications.asked).toBe(asked);
});

test('a key is its caller’s own, and no key is no repeat', async () => {
  await decide('key', 1);
  await decide('key', 2, randomUUID());
  await decide(undefined, 3);
  await decide(undefined, 3);
  expect(await recorded()).toEqual([1, 2, 3, 3]);
});

test('a refused write does not use the key up', async () => {
  const { applicationId, creditorId } = world.submission;
  const refusal = world.service.client.recordDecision(
    { applicationId, creditorId, decision: { decision: DecisionValue.DRAFT } },
    asIntegration({ creditorId }, { subject, idempotencyKey: 'key' }),
  );
  await expect(refusal).rejects.toMatchObject({ kind: 'invalid' });
  expect(await decide('key')).toEqual({ term: 60, replayed: false });
});

test('a kept answer is not given to a caller who lost the creditor', async () => {
  await decide('key');
  const { applicationId, creditorId } = world.submission;
  const request = {
    applicationId,
    creditorId,
    decision: { decision: DecisionValue.APPROVED, term: 60 },
  };
  for (const scope of [
    {},
    { creditorId: randomUUID() },
    { retailerId: world.submission.retailerId },
  ]) {
    const repeat = world.service.client.recordDecision(
      request,
      asIntegration(scope, { subject, idempotencyKey: 'key' }),
    );
    await expect(repeat).rejects.toMatchObject({ code: 'submission_not_found' });
  }
});

describe('while another write holds the submission for too long', () => {
  const whileHeld = (work: () => Promise<unknown>) =>
    world.service.whileHeld(world.submission, work);

  test.each([undefined, 'key'])('a write with the key %s is told to come again', async (key) => {
    await whileHeld(() =>
      expect(decide(key)).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 1 }),
    );
    expect(await recorded()).toEqual([]);
    expect(await decide(key)).toEqual({ term: 60, replayed: false });
  });

  test('a write whose twin is one of those who wait is told so', async () => {
    const inProgress = { kind: 'conflict', code: 'idempotency_in_progress' };
    await whileHeld(async () => {
      const twin = await world.service.sql.connect();
      try {
        await twin.query('BEGIN');
        await announceRequest(twin, { ...named, callerId: subject, key: 'key' });
        await expect(decide('key')).rejects.toMatchObject(inProgress);
        await expect(decide('another')).rejects.toMatchObject({ kind: 'unavailable' });
      } finally {
        await twin.query('ROLLBACK');
        twin.release();
      }
    });
    expect(await recorded()).toEqual([]);
  });
});
