import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { invalid, unavailable } from '@creditlane/rpc/fault';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import type { TestSubmission } from './test-applications.ts';
import {
  asIntegration,
  decideOn,
  newSubmission,
  startTestDecisions,
  type TestDecisions,
} from './test-decisions.ts';

let service: TestDecisions;
let submission: TestSubmission;
beforeAll(async () => {
  service = await startTestDecisions();
});
afterAll(() => service.close());
beforeEach(() => {
  submission = newSubmission();
  service.applications.failure = undefined;
});

const decide = () => decideOn(service, submission);
const latest = async (scope: { creditorId?: string; retailerId?: string }) => {
  const { applicationId, creditorId } = submission;
  const answer = await service.client.getDecision(
    { applicationId, creditorId },
    asIntegration(scope),
  );
  return answer.decision?.decision;
};
/** The sequence and decision of each event of the submission. */
const published = async () => {
  await service.settled();
  return service.events
    .filter(({ applicationId }) => applicationId === submission.applicationId)
    .map(({ sequence, decision }) => [Number(sequence), decision?.decision]);
};
const { AWAITING_DECISION, APPROVED } = DecisionValue;

describe('a submission whose event arrives', () => {
  test('starts with AWAITING_DECISION and its event', async () => {
    await service.submit(submission);
    expect(await published()).toEqual([[1, AWAITING_DECISION]]);
    expect(await latest({ creditorId: submission.creditorId })).toBe(AWAITING_DECISION);
  });

  test('has its event published without a poll of the relay', async ({ signal }) => {
    // From its next round on, the relay waits for a poll that does not come: `expect.poll` would move the timers on.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await service.submit(newSubmission());
    await service.settled();
    await service.submit(submission);
    const isPublished = () =>
      service.events.some(({ applicationId }) => applicationId === submission.applicationId);
    while (!isPublished()) {
      signal.throwIfAborted();
      await nextTurn();
    }
  });

  test('starts once, however often the event arrives and under any id', async () => {
    const eventId = randomUUID();
    await service.submit(submission, eventId);
    await decide();
    await service.submit(submission, eventId);
    await service.submit(submission);
    expect(await published()).toEqual([
      [1, AWAITING_DECISION],
      [2, APPROVED],
    ]);
  });

  test('starts once when many events arrive at once, each twice', async () => {
    const many = Array.from({ length: 20 }, newSubmission);
    await Promise.all([...many, ...many.toReversed()].map((each) => service.submit(each)));
    await service.settled();
    const { rows } = await service.sql.query(
      'SELECT count(*)::int AS count FROM decisions WHERE application_id = ANY ($1::uuid[])',
      [many.map(({ applicationId }) => applicationId)],
    );
    expect(rows).toEqual([{ count: 20 }]);
  });

  test('to several creditors has a history with each', async () => {
    const second = { ...submission, creditorId: randomUUID() };
    await Promise.all([service.submit(submission), service.submit(second)]);
    await decide();
    expect(await latest({ creditorId: submission.creditorId })).toBe(APPROVED);
    submission = second;
    expect(await latest({ creditorId: second.creditorId })).toBe(AWAITING_DECISION);
  });

  test('starts without terms on its worksheet', async () => {
    const { worksheet: _, ...bare } = submission;
    await service.submit(bare);
    expect(await published()).toEqual([[1, AWAITING_DECISION]]);
  });
});

describe('a submission whose event has not arrived', () => {
  beforeEach(() => service.applications.submissions.push(submission));

  test('can be decided at once, and its later event changes nothing', async () => {
    await decide();
    await service.submit(submission);
    await decide();
    expect(await published()).toEqual([
      [1, AWAITING_DECISION],
      [2, APPROVED],
      [3, APPROVED],
    ]);
  });

  test('starts once when many decisions on it are recorded while its event arrives', async () => {
    const writes = Array.from({ length: 10 }, decide);
    await Promise.all([...writes, service.submit(submission)]);
    expect((await published()).map(([sequence]) => sequence)).toEqual(
      Array.from({ length: 11 }, (_, index) => index + 1),
    );
  });

  test('can be read at once by its creditor and by its retailer', async () => {
    expect(await latest({ retailerId: submission.retailerId })).toBe(AWAITING_DECISION);
    expect(await latest({ creditorId: submission.creditorId })).toBe(AWAITING_DECISION);
  });

  test('is not found by another retailer, whose request inserts nothing', async () => {
    await expect(latest({ retailerId: randomUUID() })).rejects.toMatchObject({
      kind: 'not_found',
      code: 'submission_not_found',
    });
    expect(await published()).toEqual([]);
  });

  test('is fetched once from the applications service', async () => {
    const callCount = service.applications.callCount;
    await decide();
    await decide();
    expect(service.applications.callCount).toBe(callCount + 1);
  });
});

describe('a submission that this service does not have', () => {
  test('and the applications service does not have is not found', async () => {
    await expect(decide()).rejects.toMatchObject({
      kind: 'not_found',
      code: 'submission_not_found',
    });
  });

  test('is unavailable while the applications service is', async () => {
    service.applications.failure = unavailable('unavailable', 7);
    await expect(decide()).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 7 });
  });

  test('is an internal error when the applications service refuses the request as invalid', async () => {
    service.applications.failure = invalid('invalid_request', 'the ids are not UUIDs');
    await expect(decide()).rejects.toMatchObject({ kind: 'internal' });
  });
});

test('an event that cannot be handled becomes a dead letter and delays no later event', async () => {
  const broken = { ...submission, retailerId: 'no uuid' };
  await service.submit(broken);
  const next = newSubmission();
  await service.submit(next);
  await service.settled();
  expect(service.events.some(({ applicationId }) => applicationId === next.applicationId)).toBe(
    true,
  );
  const { rows } = await service.sql.query('SELECT key FROM dead_letters');
  expect(rows).toEqual([{ key: broken.applicationId }]);
});
