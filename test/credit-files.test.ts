// What a retailer gets with an application: credit files of its applicants, by inquiries at the bureau simulator. And what
// ends when the application is archived: it stays readable, and takes neither submissions nor consents nor inquiries.
import { randomUUID } from 'node:crypto';
import { makeApplication } from '@creditlane/local/demo/demo';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LINK_KEY, signedLink } from './credit-file/signed-links.ts';
import { decisionPath, untilServed } from './platform/api-client.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ everywhere: LINK_KEY });
});
afterAll(() => platform.close());

const create = async (person: { firstName?: string; lastName?: string; sin?: string } = {}) => {
  const { primaryApplicant, ...application } = makeApplication(platform.demo.retailerId);
  const body = { ...application, primaryApplicant: { ...primaryApplicant, ...person } };
  return (await platform.api.post('/applications', body)).body;
};

/** The path of the credit file of a new applicant of this name, who has consented. */
async function apply(
  firstName: string,
  lastName: string,
  other: { sin?: string } = {},
): Promise<string> {
  const application = await create({ firstName, lastName, ...other });
  expect((await platform.submit(application)).status).toBe(200);
  return creditFilePath(application);
}

const creditFilePath = (application: {
  applicationId: string;
  primaryApplicant: { applicantId: string };
}) => {
  const { applicationId, primaryApplicant } = application;
  return `/applications/${applicationId}/credit-file/${primaryApplicant.applicantId}`;
};

const request = (path: string, body: object = {}, headers: Record<string, string> = {}) =>
  platform.api.post(`${path}/request`, { source: 'EQUIFAX', ...body }, { headers });

/** Reads the file once the pull has ended. */
const readEnded = (path: string, key?: string) =>
  platform.api.get(path, { headers: { Prefer: 'wait=30' }, ...(key && { key }) });

/** How many inquiries the simulator has received about persons of this name. */
async function countInquiries(lastName: string): Promise<number> {
  const response = await fetch(`${platform.demo.simulatorUrl}/inquiries`);
  const inquiries = (await response.json()) as { lastName: string }[];
  return inquiries.filter((it) => it.lastName.toLowerCase() === lastName.toLowerCase()).length;
}

const STATUS = 'x-credit-file-status';

describe('a credit file', () => {
  test('is requested, waited for, and read with a link to its PDF that needs no key', async () => {
    const path = await apply('Carla', 'Complete');
    const requested = await request(path, { requestId: 'deal-1' });
    expect([requested.status, requested.body.source]).toEqual([202, 'EQUIFAX']);
    const { status, headers, body } = await readEnded(path);
    expect([status, headers.get(STATUS)]).toEqual([200, 'COMPLETE']);
    expect(headers.get('preference-applied')).toBe('wait=30');
    expect(body).toMatchObject({ source: 'EQUIFAX', hitType: 'HIT', id: expect.any(String) });
    expect(body.subject).toMatchObject({ lastName: expect.stringMatching(/complete/i) });
    expect(body.trades.length).toBeGreaterThan(0);
    expect(body.signedPdfUrl.startsWith(`${platform.demo.baseUrl}/credit-files/`)).toBe(true);

    // 503 when the first PDF of a process takes longer than a request may, as on a machine under load.
    const pdf = await untilServed(() => fetch(body.signedPdfUrl));
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect((await pdf.text()).slice(0, 5)).toBe('%PDF-');
    const pulls = await platform.api.get(`${path}/pulls`);
    expect(pulls.body.data).toMatchObject([
      {
        id: requested.body.id,
        state: 'COMPLETE',
        requestedBy: platform.demo.integrationId,
        retailerId: platform.demo.retailerId,
        hitType: 'HIT',
        forced: false,
        consent: { purpose: 'CREDIT_APPLICATION', capturedBy: platform.demo.users.active },
      },
    ]);
  });

  test('of which nothing is known at the other bureau is a file, too', async () => {
    const path = await apply('Noah', 'Nohit');
    await request(path, { source: 'TRANSUNION' });
    const { headers, body } = await readEnded(path);
    expect(headers.get(STATUS)).toBe('COMPLETE');
    expect(body).toMatchObject({ source: 'TRANSUNION', hitType: 'NO_HIT' });
  });

  test('in French is read in French, and its PDF is made', async () => {
    const path = await apply('Zoë', 'Québécois');
    await request(path);
    const { body } = await readEnded(path);
    expect(body.language).toBe('FR');
    expect((await untilServed(() => fetch(body.signedPdfUrl))).status).toBe(200);
  });

  test('has a whole social insurance number for an integration with READ_SIN only', async () => {
    const path = await apply('Sina', 'Numberson');
    await request(path);
    expect((await readEnded(path)).body.subject.sin).toBe('***-***-286');
    const { demo, api } = platform;
    const asPlatform = { key: demo.keys.platform };
    const named = { name: 'Reader', permissions: ['READ_SIN'] };
    const { integrationId } = (await api.post('/platform/integrations', named, asPlatform)).body;
    const ofReader = `/platform/integrations/${integrationId}`;
    await api.call('PUT', `${ofReader}/retailers/${demo.retailerId}`, asPlatform);
    const { key } = (await api.post(`${ofReader}/keys`, {}, asPlatform)).body;
    expect((await readEnded(path, key)).body.subject.sin).toBe('046454286');
  });
});

describe('the file of another person', () => {
  test('is never the applicant’s: the pull has failed, and says so', async () => {
    for (const source of ['EQUIFAX', 'TRANSUNION']) {
      const path = await apply('Sonia', 'Someoneelse');
      await request(path, { source });
      const { status, headers, body } = await readEnded(path);
      expect([status, headers.get(STATUS), body.code]).toEqual([
        404,
        'FAILED',
        'credit_file_failed',
      ]);
      const reason = /^(EQUIFAX|TRANSUNION) .*ANSWER_FOR_ANOTHER_SUBJECT/;
      expect(body.message).toMatch(reason);
      const pulls = (await platform.api.get(`${path}/pulls`)).body;
      const failed = { state: 'FAILED', failure: 'ANSWER_FOR_ANOTHER_SUBJECT' };
      expect(pulls.data).toMatchObject([{ ...failed, sentAt: expect.any(String) }]);
      expect(JSON.stringify([body, pulls])).not.toMatch(/stranger/i);
    }
  });

  test('beside the applicant’s in one answer is left out', async () => {
    const path = await apply('Toby', 'Twopersons');
    await request(path);
    const { headers, body } = await readEnded(path);
    expect(headers.get(STATUS)).toBe('COMPLETE');
    expect(body).toMatchObject({
      matched: 'FULL',
      subject: { firstName: 'Toby', lastName: 'Twopersons' },
    });
    expect(JSON.stringify(body)).not.toMatch(/stranger/i);
  });
});

test('a file that may be another person’s says what it lacks', async () => {
  const path = await apply('Ulla', 'Undated');
  await request(path);
  const { body } = await readEnded(path);
  const partial = { matched: 'PARTIAL', differences: ['DATE_OF_BIRTH_MISSING'] };
  expect(body).toMatchObject({ hitType: 'HIT', ...partial });
});

describe('a second inquiry is not made', () => {
  test('for requests at the same time, with the same id, or within 30 days, unless it is forced', async () => {
    const path = await apply('Juno', 'Joinson');
    const together = await Promise.all(
      ['a', 'b', 'c', 'd'].map((requestId) => request(path, { requestId })),
    );
    const [{ body: first } = { body: undefined }] = together;
    expect(together.map(({ status, body }) => [status, body.id])).toEqual(
      together.map(() => [202, first.id]),
    );
    await readEnded(path);
    const later = await request(path, { requestId: 'later' });
    expect(later.body).toMatchObject({ id: first.id, state: 'COMPLETE' });
    expect(await countInquiries('Joinson')).toBe(1);

    const forced = await request(path, { requestId: 'forced' }, { Prefer: 'force-pull' });
    expect(forced.headers.get('preference-applied')).toBe('force-pull');
    expect(forced.body.id).not.toBe(first.id);
    expect((await readEnded(path)).headers.get(STATUS)).toBe('COMPLETE');
    const repeated = await request(path, { requestId: 'forced' }, { Prefer: 'force-pull' });
    expect(repeated.body.id).toBe(forced.body.id);
    expect(repeated.headers.has('preference-applied')).toBe(false);
    expect(await countInquiries('Joinson')).toBe(2);
  });

  test('by force above the ceiling of the person, under another application too', async () => {
    const sin = '130692544';
    for (const lastName of ['Overask', 'Overasked']) {
      const path = await apply('Olga', lastName, { sin });
      expect((await request(path, {}, { Prefer: 'force-pull' })).status).toBe(202);
      await readEnded(path);
    }
    const third = await apply('Olga', 'Overasker', { sin });
    const { status, body } = await request(third, {}, { Prefer: 'force-pull' });
    expect([status, body.code]).toEqual([400, 'force_pull_limit']);
    expect(await countInquiries('Overasker')).toBe(0);
  });

  test('after one whose answer was lost: its outcome stays unknown', async () => {
    const path = await apply('Drew', 'Dropped');
    await request(path);
    const { status, headers, body } = await readEnded(path);
    expect([status, body.code]).toEqual([404, 'credit_file_outcome_unknown']);
    expect(headers.get(STATUS)).toBe('UNKNOWN');
    expect(body.message).toMatch(/^EQUIFAX .*UNKNOWN/);
    expect(await countInquiries('Dropped')).toBe(1);
  });
});

describe('without a file, a read is 404', () => {
  test('with bureau and reason, after the bureau has refused the inquiry', async () => {
    const path = await apply('Bea', 'Badlogin');
    await request(path);
    const { status, headers, body } = await readEnded(path);
    expect([status, headers.get(STATUS), body.code]).toEqual([404, 'FAILED', 'credit_file_failed']);
    expect(body.message).toMatch(/^EQUIFAX .*CREDENTIALS/);
  });

  test('before a request, and to another tenant as for an unknown applicant', async () => {
    const path = await apply('Una', 'Unasked');
    const unasked = await readEnded(path);
    expect([unasked.status, unasked.body.code]).toEqual([404, 'credit_file_not_requested']);
    const { key } = platform.demo.otherTenant;
    const unknown = path.replace(/[^/]+$/, randomUUID());
    const answers = [
      await readEnded(path, key),
      await readEnded(unknown),
      await readEnded('/applications/a/credit-file/b'),
    ];
    for (const { status, body } of answers) {
      expect([status, body.code]).toEqual([404, 'applicant_not_found']);
    }
  });
});

test('the inquiry about each persona ends as demo.json says, and is made once', async () => {
  const STATUSES = { complete: 'COMPLETE', failed: 'FAILED', unknown: 'UNKNOWN', slow: 'COMPLETE' };
  const { personas, simulatorUrl } = platform.demo;
  // The answers that take seconds, or never come, are left to tests that set deadlines.
  const prompt = personas.filter((it) => it.outcome !== 'slow' && it.lastName !== 'Hanging');
  const countAll = async () =>
    ((await (await fetch(`${simulatorUrl}/inquiries`)).json()) as object[]).length;
  const before = await countAll();
  const askAbout = async ({ source, firstName, lastName }: (typeof personas)[number]) => {
    const path = await apply(firstName, lastName);
    await request(path, { source });
    const { headers, body } = await readEnded(path);
    return { source, lastName, status: headers.get(STATUS), hitType: body.hitType ?? null };
  };
  const ends = [];
  // Sixty submissions at once have exceeded their deadline on a machine under load.
  for (let at = 0; at < prompt.length; at += 8) {
    ends.push(...(await Promise.all(prompt.slice(at, at + 8).map(askAbout))));
  }
  expect(ends).toEqual(
    prompt.map(({ source, lastName, outcome, hitType }) => ({
      source,
      lastName,
      status: STATUSES[outcome],
      hitType,
    })),
  );
  expect((await countAll()) - before).toBe(prompt.length);
}, 120_000);

test('a file is requested on a consent alone: not before it was recorded, nor once it is revoked', async () => {
  const { api, demo } = platform;
  const application = await create({ firstName: 'Connor', lastName: 'Consenting' });
  const path = creditFilePath(application);
  const missing = await request(path);
  expect([missing.status, missing.body.code]).toEqual([400, 'consent_missing']);

  const { applicationId, primaryApplicant } = application;
  const consents = `/applications/${applicationId}/applicants/${primaryApplicant.applicantId}/consents`;
  const terms = {
    purpose: 'CREDIT_APPLICATION',
    textVersion: '2026-01',
    documentSha256: 'ab'.repeat(32),
    capturedBy: demo.users.active,
  };
  const { consentId, capturedAt, expiresAt } = (await api.post(consents, terms)).body;
  expect((await request(path)).status).toBe(202);
  const { body: file } = await readEnded(path);
  const [pull] = (await api.get(`${path}/pulls`)).body.data;
  expect(pull.consent).toEqual({ consentId, ...terms, capturedAt, expiresAt });

  await api.post(`${consents}/${consentId}/revoke`, { revokedBy: demo.users.active });
  const revoked = await request(path, {}, { Prefer: 'force-pull' });
  expect([revoked.status, revoked.body.code]).toEqual([400, 'consent_missing']);
  expect((await readEnded(path)).body.id).toBe(file.id);
  expect(await countInquiries('Consenting')).toBe(1);
});

describe('the link to a PDF is 403', () => {
  test('when any part of it was altered, and when it is late', async () => {
    const path = await apply('Lina', 'Linkwood');
    await request(path);
    const { signedPdfUrl } = (await readEnded(path)).body;
    const link: string = signedPdfUrl.slice(platform.demo.baseUrl.length);
    const id = link.split('/')[2] ?? '';
    const open = (altered: string) => platform.api.get(altered, { key: null });
    const expires = Number(/expires=(\d+)/.exec(link)?.[1]);
    expect((await open(signedLink(id, expires))).status).toBe(200);
    for (const altered of [
      link.replace(id, randomUUID()),
      link.replace(`${expires}`, `${expires + 1}`),
      link.replace(/.$/, (end: string) => (end === 'A' ? 'Q' : 'A')),
      `${link}A`,
    ]) {
      const { status, body } = await open(altered);
      expect([status, body.code], altered).toEqual([403, 'link_invalid']);
    }
    const late = await open(signedLink(id, Math.floor(Date.now() / 1_000) - 1));
    expect([late.status, late.body.code]).toEqual([403, 'link_expired']);
  });
});

const archive = (applicationId: string, headers: Record<string, string> = {}) =>
  platform.api.post(`/applications/${applicationId}/archive`, undefined, { headers });

test('an application that is archived stays readable, with its decision', async () => {
  const { applicationId, creditorId } = await platform.submitNewApplication();
  const archived = await archive(applicationId);
  expect([archived.status, archived.body.status]).toEqual([200, 'ARCHIVED']);
  expect((await platform.api.get(`/applications/${applicationId}`)).body).toEqual(archived.body);
  const decision = await platform.api.get(decisionPath({ applicationId, creditorId }));
  expect(decision.body.decision).toBe('AWAITING_DECISION');
});

test('an archived application cannot be submitted', async () => {
  const application = await create();
  await archive(application.applicationId);
  const refused = await platform.submit(application);
  expect([refused.status, refused.body.code]).toEqual([409, 'application_archived']);
});

test('archiving again, with the same key or with none, succeeds and changes nothing', async () => {
  const { applicationId } = await create();
  const headers = { 'Idempotency-Key': randomUUID() };
  const first = await archive(applicationId, headers);
  const repeated = await archive(applicationId, headers);
  expect(repeated.body).toEqual(first.body);
  expect(repeated.headers.get('idempotent-replayed')).toBe('true');
  const again = await archive(applicationId);
  expect([again.status, again.body]).toEqual([200, first.body]);
});

test('the consent that a submission recorded can be revoked after archiving, and no other be recorded', async () => {
  const application = await create();
  const { applicationId, primaryApplicant } = application;
  expect((await platform.submit(application)).status).toBe(200);
  await archive(applicationId);
  const path = `/applications/${applicationId}/applicants/${primaryApplicant.applicantId}/consents`;
  const [consent] = (await platform.api.get(path)).body.data;
  const capturedBy = platform.demo.users.active;
  expect(consent).toMatchObject({ purpose: 'CREDIT_APPLICATION', capturedBy });

  const terms = { purpose: 'CREDIT_APPLICATION', textVersion: 'v2', capturedBy };
  const refused = await platform.api.post(path, terms);
  expect([refused.status, refused.body.code]).toEqual([409, 'application_archived']);
  const revoked = await platform.api.post(`${path}/${consent.consentId}/revoke`, {});
  expect(revoked.body).toEqual({ ...consent, revokedAt: expect.any(String) });
  expect((await platform.api.get(path)).body.data).toEqual([revoked.body]);
});
