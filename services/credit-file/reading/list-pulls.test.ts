import { randomUUID } from 'node:crypto';
import { PullState, Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { expect, test } from 'vitest';
import { answered } from '../test-bureau.ts';
import { asIntegration, readEnded, request, useApplicant } from '../test-credit-file.ts';

const fixture = useApplicant();

async function list({ limit = 25, cursor = '', retailerId = fixture.applicant.retailerId } = {}) {
  const { applicationId, applicantId } = fixture.applicant;
  const message = { applicationId, applicantId, limit, cursor };
  return fixture.service.client.listPulls(message, asIntegration(retailerId));
}

test('each pull is listed with who asked, on which consent, and what became of it', async () => {
  const { service, applicant } = fixture;
  const subject = randomUUID();
  const first = await request(service, applicant, {
    subject,
    xRequestId: 'request-1',
    requestId: 'deal-7781',
  });
  await readEnded(service, applicant);
  service.bureau.answer = async () =>
    answered({ kind: 'refused', reason: 'credentials', code: 'E0819' });
  const second = await request(service, applicant, { force: true });
  await readEnded(service, applicant);
  const { pulls, nextCursor } = await list();
  expect(nextCursor).toBe('');
  expect(pulls.map(({ pull }) => [pull?.id, PullState[pull?.state ?? 0]])).toEqual([
    [second.id, 'FAILED'],
    [first.id, 'COMPLETE'],
  ]);
  const { applicationId, applicantId, retailerId } = applicant;
  const { consent } = service.applications.subjects.get(`${applicationId} ${applicantId}`) ?? {};
  expect(pulls[1]).toMatchObject({
    pull: { source: Source.EQUIFAX },
    requestedBy: subject,
    retailerId,
    requestId: 'request-1',
    callerRequestId: 'deal-7781',
    forced: false,
    hitType: 'HIT',
    consent: {
      consentId: consent?.id,
      purpose: 'CREDIT_APPLICATION',
      textVersion: '2026-03',
      documentSha256: 'ab'.repeat(32),
      capturedAt: consent?.capturedAt,
      capturedBy: consent?.capturedBy,
      expiresAt: consent?.expiresAt,
    },
  });
  expect(pulls[1]?.sentAt).toBeDefined();
  expect(pulls[0]).toMatchObject({ forced: true, callerRequestId: '', hitType: '' });
});

test('pages follow one another without a gap, and another list refuses the cursor', async () => {
  const { service, applicant } = fixture;
  const ids: string[] = [];
  for (const source of [Source.EQUIFAX, Source.TRANSUNION, Source.EQUIFAX]) {
    ids.unshift((await request(service, applicant, { source, force: true })).id);
    await readEnded(service, applicant);
  }
  const pages = [await list({ limit: 2 })];
  pages.push(await list({ limit: 2, cursor: pages[0]?.nextCursor ?? '' }));
  expect(pages.map(({ pulls }) => pulls.map(({ pull }) => pull?.id))).toEqual([
    ids.slice(0, 2),
    ids.slice(2),
  ]);
  await expect(list({ cursor: 'x' })).rejects.toMatchObject({ code: 'invalid_cursor' });
});

test('without a pull the list is empty, and another retailer has no such applicant', async () => {
  expect((await list()).pulls).toEqual([]);
  const refusal = { kind: 'not_found', code: 'applicant_not_found' };
  await expect(list({ retailerId: randomUUID() })).rejects.toMatchObject(refusal);
  await request(fixture.service, fixture.applicant);
  await expect(list({ retailerId: randomUUID() })).rejects.toMatchObject(refusal);
  await readEnded(fixture.service, fixture.applicant);
});
