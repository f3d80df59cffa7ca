import { randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { IncomeStatus } from '@creditlane/proto/decisions/v1/decisions_service';
import { describe, expect, test } from 'vitest';
import { asIntegration, newSubmission, useSubmission } from './test-decisions.ts';

const fixture = useSubmission();

interface Request {
  /** Names the submission; that of the fixture when left out. */
  submission?: { applicationId: string; creditorId: string };
  scope?: { creditorId?: string; retailerId?: string };
  subject?: string;
  idempotencyKey?: string;
}

async function set(incomeStatus: IncomeStatus, request: Request = {}) {
  const { applicationId, creditorId } = request.submission ?? fixture.submission;
  const { scope = { creditorId }, ...context } = request;
  let replayed = false;
  const onReplayed = () => {
    replayed = true;
  };
  const answer = await fixture.service.client.setIncomeStatus(
    { applicationId, creditorId, incomeStatus },
    asIntegration(scope, { ...context, onReplayed }),
  );
  return { incomeStatus: answer.incomeStatus, replayed };
}

const get = (scope: { creditorId?: string; retailerId?: string }) => {
  const { applicationId, creditorId } = fixture.submission;
  return fixture.service.client.getIncomeStatus(
    { applicationId, creditorId },
    asIntegration(scope),
  );
};

describe('the income status', () => {
  test('is unspecified, without a time, until the creditor sets it', async () => {
    const { incomeStatus, setAt } = await get({ creditorId: fixture.submission.creditorId });
    expect(incomeStatus).toBe(IncomeStatus.UNSPECIFIED);
    expect(setAt).toBeUndefined();
  });

  test.each([IncomeStatus.REQUIRED, IncomeStatus.VERIFIED, IncomeStatus.WAIVED])(
    'is the value %s after the creditor has set it, for the creditor and for the retailer',
    async (incomeStatus) => {
      const subject = randomUUID();
      expect(await set(incomeStatus, { subject })).toEqual({ incomeStatus, replayed: false });
      const { creditorId, retailerId } = fixture.submission;
      for (const scope of [{ creditorId }, { retailerId }]) {
        const read = await get(scope);
        expect(read.incomeStatus).toBe(incomeStatus);
        expect(read.setAt && timestampDate(read.setAt).getTime()).toBeGreaterThan(0);
      }
      const { rows } = await fixture.service.sql.query(
        'SELECT income_status_set_by AS by FROM submissions WHERE application_id = $1',
        [fixture.submission.applicationId],
      );
      expect(rows).toEqual([{ by: subject }]);
    },
  );

  test('is replaced by a later value', async () => {
    await set(IncomeStatus.REQUIRED);
    await set(IncomeStatus.WAIVED);
    const read = await get({ creditorId: fixture.submission.creditorId });
    expect(read.incomeStatus).toBe(IncomeStatus.WAIVED);
  });

  test('is set also when the event of the submission has not arrived', async () => {
    const submission = newSubmission();
    fixture.service.applications.submissions.push(submission);
    const answer = await set(IncomeStatus.VERIFIED, { submission });
    expect(answer.incomeStatus).toBe(IncomeStatus.VERIFIED);
  });
});

test('a repeated request changes nothing and gets the stored answer', async () => {
  const request = { subject: randomUUID(), idempotencyKey: 'key' };
  await set(IncomeStatus.REQUIRED, request);
  await set(IncomeStatus.WAIVED, { subject: request.subject });
  const repeated = await set(IncomeStatus.REQUIRED, request);
  expect(repeated).toEqual({ incomeStatus: IncomeStatus.REQUIRED, replayed: true });
  const read = await get({ creditorId: fixture.submission.creditorId });
  expect(read.incomeStatus).toBe(IncomeStatus.WAIVED);
});

test('an idempotency key reused with another value is refused', async () => {
  const request = { subject: randomUUID(), idempotencyKey: 'key' };
  await set(IncomeStatus.REQUIRED, request);
  await expect(set(IncomeStatus.WAIVED, request)).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  });
});

test('twenty duplicate requests at once get one answer, and one of them sets the value', async () => {
  const request = { subject: randomUUID(), idempotencyKey: 'key' };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => set(IncomeStatus.VERIFIED, request)),
  );
  expect(answers.map(({ incomeStatus }) => incomeStatus)).toEqual(
    Array(20).fill(IncomeStatus.VERIFIED),
  );
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
});

test('the retailer, another creditor and a caller without scope cannot set it', async () => {
  const { retailerId } = fixture.submission;
  const notFound = { kind: 'not_found', code: 'submission_not_found' };
  for (const scope of [{ retailerId }, { creditorId: randomUUID() }, {}]) {
    await expect(set(IncomeStatus.WAIVED, { scope })).rejects.toMatchObject(notFound);
  }
  const { incomeStatus } = await get({ retailerId });
  expect(incomeStatus).toBe(IncomeStatus.UNSPECIFIED);
});

test('a value that is not specified, or unknown, is refused', async () => {
  for (const incomeStatus of [0, 9]) {
    await expect(set(incomeStatus as IncomeStatus)).rejects.toMatchObject({
      kind: 'invalid',
      fields: [{ pointer: '/incomeStatus' }],
    });
  }
});

test('another retailer and a caller without scope find no submission', async () => {
  for (const scope of [{ retailerId: randomUUID() }, {}]) {
    await expect(get(scope)).rejects.toMatchObject({ code: 'submission_not_found' });
  }
});
