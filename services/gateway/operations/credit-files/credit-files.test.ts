// The operations on credit files, in front of a fake credit-file service.
import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Caller } from '@creditlane/proto/common/v1/access';
import {
  FailureReason,
  type Pull,
  PullState,
  Source,
} from '@creditlane/proto/creditfile/v1/credit_file_service';
import { conflict, invalid, resourceExhausted } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { LINK_SIGNATURE, PDF } from '../../fake-services/test-credit-file-service.ts';
import { RECHECK_ACCESS_AFTER_MS } from '../../middleware/caller.ts';
import { startTestGateway } from '../../test-gateway.ts';

const PUBLIC_URL = 'https://credit.example.com/api';

const gateway = await startTestGateway({ publicUrl: PUBLIC_URL });
afterAll(() => gateway.close());
const { ids, services } = gateway;
beforeEach(() => {
  services.calls.length = 0;
  services.failures.clear();
  services.creditFiles.clear();
});

const path = `/v1/applications/${ids.application}/credit-file/${ids.applicant}`;
const last = (method: string) => services.called(method).at(-1)?.request as never;

type FailedPull = Partial<Pick<Pull, 'failure' | 'bureauCode'>>;

function setPull(state: PullState, more: FailedPull & { file?: object } = {}) {
  const { file, ...failed } = more;
  const requestedAt = timestampFromDate(new Date('2026-03-03T04:30:00Z'));
  const pull = { id: newId(), source: Source.EQUIFAX, state, requestedAt, ...failed };
  services.creditFiles.set(ids.applicant, { pull, ...(file && { file }) });
  return pull.id;
}

const request = (body: object = { source: 'EQUIFAX' }, headers: Record<string, string> = {}) =>
  gateway.send('POST', `${path}/request`, { body, headers });
const read = (headers: Record<string, string> = {}, key?: string) =>
  gateway.send('GET', path, { headers, key });

describe('a request for a credit file', () => {
  test('is answered at once with the pull, and with where and when to read', async () => {
    const answer = await request({ source: 'TRANSUNION', requestId: 'deal-1' });
    expect(answer.status).toBe(202);
    expect(answer.json).toEqual({
      id: expect.any(String),
      source: 'TRANSUNION',
      state: 'REQUESTED',
      requestedAt: '2026-03-02T15:04:05.678Z',
    });
    expect(answer.headers.get('location')).toBe(`/api${path}`);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.has('preference-applied')).toBe(false);
    expect(last('requestCreditFile')).toMatchObject({
      applicationId: ids.application,
      applicantId: ids.applicant,
      source: Source.TRANSUNION,
      requestId: 'deal-1',
      force: false,
    });
  });

  test('pulls again with the preference force-pull, and does not wait', async () => {
    const answer = await request(undefined, { Prefer: 'wait=30, Force-Pull' });
    expect(answer.headers.get('preference-applied')).toBe('force-pull');
    expect(last('requestCreditFile')).toMatchObject({ force: true, requestId: '' });
  });

  test('that gets an earlier pull has forced nothing', async () => {
    const body = { source: 'EQUIFAX', requestId: 'repeated' };
    const answer = await request(body, { Prefer: 'force-pull' });
    expect(last('requestCreditFile')).toMatchObject({ force: true });
    expect(answer.headers.has('preference-applied')).toBe(false);
  });

  test('passes its Idempotency-Key on, and a replay is marked', async () => {
    const answer = await request(undefined, { 'Idempotency-Key': 'replayed' });
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
  });

  test.each([
    [invalid('consent_missing', 'The applicant has no consent.'), 400],
    [invalid('bureau_not_configured', 'The platform is not set up for TRANSUNION.'), 400],
    [conflict('bureau_credentials_missing', 'The retailer has no credentials.'), 400],
    [conflict('application_archived', 'The application is archived.'), 400],
    [conflict('idempotency_in_progress', 'An earlier request is still under way.'), 409],
  ])('that is refused with %s is answered with %d', async (fault, status) => {
    services.failures.set('requestCreditFile', () => fault);
    const answer = await request();
    expect([answer.status, answer.json.code]).toEqual([status, fault.code]);
  });

  test.each([
    [{}, '/source', 'is required'],
    [{ source: 'CREDIT_APP' }, '/source', 'must be one of EQUIFAX, TRANSUNION'],
    [{ source: 'EQUIFAX', requestId: '' }, '/requestId', 'must not be empty'],
    [
      { source: 'EQUIFAX', requestId: 'x'.repeat(256) },
      '/requestId',
      'must have at most 255 characters',
    ],
  ])('%j is refused with the field at fault', async (body, pointer, message) => {
    const answer = await request(body);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([{ pointer, message }]);
  });
});

describe('an application or applicant', () => {
  const anothers = `/v1/applications/${ids.otherApplication}/credit-file/${ids.otherApplicant}`;
  const unknown = {
    'an unknown one': `/v1/applications/${newId()}/credit-file/${newId()}`,
    "another tenant's": anothers,
    'one that is no UUID': '/v1/applications/7781/credit-file/maya',
    'an unknown applicant': path.replace(ids.applicant, newId()),
    'an applicant that is no UUID': path.replace(ids.applicant, 'maya%2F..'),
  };

  test.each(Object.entries(unknown))('%s is 400 to a request, 404 to a read', async (_, place) => {
    const body = { source: 'EQUIFAX' };
    const requested = await gateway.send('POST', `${place}/request`, { body });
    const found = await gateway.send('GET', place);
    const listed = await gateway.send('GET', `${place}/pulls`);
    const missing = {
      message: 'No application within your grants has this id and this applicant.',
      code: 'applicant_not_found',
    };
    const requestId = expect.any(String);
    expect(requested.json).toEqual({ status: 400, ...missing, requestId });
    expect(found.json).toEqual({ status: 404, ...missing, requestId });
    expect(listed.json).toEqual({ status: 404, ...missing, requestId });
  });

  test('is found by its id in upper case, and answered in lower case', async () => {
    setPull(PullState.RUNNING);
    const upper = `/v1/applications/${ids.application.toUpperCase()}/credit-file/${ids.applicant.toUpperCase()}`;
    expect((await gateway.send('GET', upper)).status).toBe(200);
    const body = { source: 'EQUIFAX' };
    const requested = await gateway.send('POST', `${upper}/request`, { body });
    expect(requested.headers.get('location')).toBe(`/api${path}`);
  });
});

test('the platform erases an applicant, and an integration cannot', async () => {
  setPull(PullState.COMPLETE, { file: { id: newId(), hitType: 'HIT' } });
  const place = `/v1/platform/retailers/${ids.retailer}/applicants/${ids.applicant}`;
  expect((await gateway.send('DELETE', place)).status).toBe(401);
  expect((await read()).status).toBe(200);
  const erased = await gateway.send('DELETE', place, { key: gateway.platformKey });
  expect(erased.status).toBe(204);
  const request = { retailerId: ids.retailer, applicantId: ids.applicant };
  expect(services.called('eraseApplicant').at(-1)?.request).toMatchObject(request);
  expect((await read()).status).toBe(404);
});

describe('the 401 of the two specified operations', () => {
  test.each(['application/json', 'application/problem+json'])(
    'is its status alone to a client that accepts %s',
    async (accept) => {
      const headers = { accept };
      for (const key of ['', 'cl_live_unknown', gateway.platformKey]) {
        const requested = { key, headers, body: { source: 'EQUIFAX' } };
        for (const answer of [
          await gateway.send('POST', `${path}/request`, requested),
          await gateway.send('GET', path, { key, headers }),
        ]) {
          expect(answer.status).toBe(401);
          expect(answer.text).toBe('{"status":401}');
          expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
        }
      }
    },
  );
});

describe('a read', () => {
  test('before a request is 404', async () => {
    const answer = await read();
    expect([answer.status, answer.json.code]).toEqual([404, 'credit_file_not_requested']);
    expect(answer.headers.has('x-credit-file-status')).toBe(false);
  });

  test.each([PullState.REQUESTED, PullState.RUNNING])(
    'during a pull has source and day alone',
    async (state) => {
      setPull(state, { file: { id: newId(), hitType: 'HIT' } });
      const answer = await read();
      expect(answer.json).toEqual({ source: 'EQUIFAX', requestedDate: '2026-03-02' });
      expect(answer.headers.get('x-credit-file-status')).toBe('PENDING');
      expect(answer.headers.get('retry-after')).toBe('1');
    },
  );

  test('after a pull has the file, with a link below the public URL', async () => {
    const file = { id: newId(), hitType: 'HIT', source: 'EQUIFAX', scores: [{ value: '712' }] };
    const id = setPull(PullState.COMPLETE, { file });
    const answer = await read();
    expect(answer.headers.get('x-credit-file-status')).toBe('COMPLETE');
    expect(answer.headers.has('retry-after')).toBe(false);
    const link = `/v1/credit-files/${id}/document?expires=1772464745&signature=${LINK_SIGNATURE}`;
    expect(answer.json).toEqual({ ...file, signedPdfUrl: PUBLIC_URL + link });
  });

  test('names no host in its link that the request names', async () => {
    setPull(PullState.COMPLETE, { file: { id: newId(), hitType: 'HIT' } });
    const answer = await read({
      'X-Forwarded-Host': 'evil.example',
      Forwarded: 'host=evil.example',
    });
    expect(answer.json.signedPdfUrl).toMatch(new RegExp(`^${PUBLIC_URL}/v1/`));
  });

  test.each([
    [PullState.FAILED, 'FAILED'],
    [PullState.UNKNOWN, 'UNKNOWN'],
  ])('after a pull that ended without a file has an earlier file', async (state, status) => {
    setPull(state, { file: { id: newId(), hitType: 'NO_HIT' } });
    const answer = await read();
    expect([answer.status, answer.json.hitType]).toEqual([200, 'NO_HIT']);
    expect(answer.headers.get('x-credit-file-status')).toBe(status);
  });

  test.each([
    [FailureReason.CREDENTIALS, "CREDENTIALS: it refused the retailer's credentials"],
    [FailureReason.REJECTED, 'REJECTED: it refused the contents of the inquiry'],
    [
      FailureReason.UNAVAILABLE,
      'UNAVAILABLE: it could not be reached, or it refused to take the inquiry at that time',
    ],
    [FailureReason.MALFORMED_ANSWER, 'MALFORMED_ANSWER: its answer was not in its format'],
    [
      FailureReason.CONSENT,
      "CONSENT: the applicant's consent had ended before the inquiry was sent",
    ],
    [
      FailureReason.ANSWER_FOR_ANOTHER_SUBJECT,
      'ANSWER_FOR_ANOTHER_SUBJECT: its answer was about another person, and nothing of it was kept',
    ],
  ])('after a failure without an earlier file is 404 with the reason', async (failure, reason) => {
    setPull(PullState.FAILED, { failure });
    const answer = await read();
    expect([answer.status, answer.json.code]).toEqual([404, 'credit_file_failed']);
    expect(answer.json.message).toBe(`EQUIFAX gave no credit file, ${reason}.`);
    expect(answer.headers.get('x-credit-file-status')).toBe('FAILED');
  });

  test('after a refusal of the bureau is 404 with the code of the bureau', async () => {
    setPull(PullState.FAILED, { failure: FailureReason.REJECTED, bureauCode: 'E0807' });
    expect((await read()).json.message).toBe(
      'EQUIFAX gave no credit file, REJECTED: it refused the contents of the inquiry (its code: E0807).',
    );
  });

  test('after an unknown outcome without an earlier file is 404 with the status UNKNOWN', async () => {
    setPull(PullState.UNKNOWN);
    const answer = await read();
    expect([answer.status, answer.json.code]).toEqual([404, 'credit_file_outcome_unknown']);
    expect(answer.json.message).toMatch(/^EQUIFAX gave no credit file, UNKNOWN: /);
    expect(answer.headers.get('x-credit-file-status')).toBe('UNKNOWN');
  });

  test('has whole social insurance numbers with the permission READ_SIN only', async () => {
    setPull(PullState.RUNNING);
    await read();
    expect(last('readCreditFile')).toMatchObject({ unmasked: false });
    await read({}, services.issue(Caller.INTEGRATION, ids.integration, ['READ_SIN']));
    expect(last('readCreditFile')).toMatchObject({ unmasked: true });
  });
});

describe('the pulls of an applicant', () => {
  test('have the evidence, a page at a time', async () => {
    const id = setPull(PullState.COMPLETE);
    const { json } = await gateway.send('GET', `${path}/pulls?limit=3&cursor=abc`);
    expect(last('listPulls')).toMatchObject({ limit: 3, cursor: 'abc' });
    expect(json.nextCursor).toBe('next');
    expect(json.data).toMatchObject([
      {
        id,
        state: 'COMPLETE',
        requestedBy: ids.integration,
        retailerId: ids.retailer,
        requestId: 'order-7781',
        callerRequestId: 'deal-7781',
        forced: false,
        hitType: 'HIT',
        consent: { purpose: 'CREDIT_APPLICATION', textVersion: '2026-01' },
      },
    ]);
  });
});

describe('the link to the PDF', () => {
  const document = `/v1/credit-files/${newId()}/document`;
  const open = (search: string, headers: Record<string, string> = {}) =>
    gateway.send('GET', document + search, { key: '', headers });

  test('opens it without a key', async () => {
    const answer = await open(`?expires=1772464745&signature=${LINK_SIGNATURE}`);
    expect([answer.status, answer.text]).toEqual([200, PDF.toString()]);
    expect(answer.headers.get('content-type')).toBe('application/pdf');
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    expect(answer.headers.get('content-disposition')).toBe('inline; filename="credit-file.pdf"');
    expect(last('readDocument')).toMatchObject({ expiresAt: 1772464745n });
    expect(services.called('readDocument').at(-1)?.call.identity).toMatchObject({
      kind: 'service',
      subject: 'gateway',
    });
    expect(services.called('authenticate')).toEqual([]);
  });

  test.each([
    '?expires=1772464745&signature=another',
    `?expires=soon&signature=${LINK_SIGNATURE}`,
    `?expires=-1&signature=${LINK_SIGNATURE}`,
    `?expires=9999999999999&signature=${LINK_SIGNATURE}`,
    `?expires=1772464745&signature=${'x'.repeat(201)}`,
    '?expires=1772464745&signature=',
  ])('altered to %s is 403', async (search) => {
    const answer = await open(search);
    expect([answer.status, answer.json.code]).toEqual([403, 'link_invalid']);
  });

  test('is 400 without its signature, and with a second one', async () => {
    expect((await open('?expires=1')).status).toBe(400);
    expect((await open(`?expires=1&signature=a&signature=b`)).status).toBe(400);
  });

  test.each(['rate_limited', 'too_many_under_way'])(
    'that the service refuses as %s is 429, with the time to wait',
    async (code) => {
      const refusal = resourceExhausted(code, 'this link was opened too often', 7);
      services.failures.set('readDocument', () => refusal);
      const answer = await open(`?expires=1772464745&signature=${LINK_SIGNATURE}`);
      expect([answer.status, answer.json.code]).toEqual([429, code]);
      expect(answer.headers.get('retry-after')).toBe('7');
    },
  );

  describe('that an integration was given', () => {
    const valid = `?expires=1772464745&signature=${LINK_SIGNATURE}`;
    const giveTo = (...integrationIds: string[]) => {
      const readers = integrationIds.map((integrationId) => ({ integrationId }));
      services.linkReaders = { applicationId: ids.application, readers };
    };
    beforeEach(() => {
      onTestFinished(() => {
        services.linkReaders = {};
      });
    });

    test('opens it while one of those who were given it has a grant on the retailer', async () => {
      giveTo(newId(), ids.integration);
      expect((await open(valid)).status).toBe(200);
    });

    test('is 403 once none of them has one, and the document is not asked for', async () => {
      giveTo(newId(), newId());
      const answer = await open(valid);
      expect([answer.status, answer.json.code]).toEqual([403, 'link_ended']);
      expect(services.called('readDocument')).toEqual([]);
    });

    test('is 403 when the grant is withdrawn while the document is waited for', async () => {
      giveTo(ids.integration);
      const grant = `${ids.integration} ${ids.retailer}`;
      services.gates.readDocument.push(async () => {
        services.grants.delete(grant);
        await delay(RECHECK_ACCESS_AFTER_MS + 50);
      });
      const answer = await open(valid);
      services.grants.add(grant);
      expect([answer.status, answer.json.code]).toEqual([403, 'link_ended']);
    });
  });

  test('does not take a wrong key amiss', async () => {
    const search = `?expires=1772464745&signature=${LINK_SIGNATURE}`;
    expect((await open(search, { authorization: 'Bearer wrong' })).status).toBe(200);
  });
});
