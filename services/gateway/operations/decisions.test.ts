import { invalid } from '@creditlane/rpc/fault';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const WRITABLE = [
  'BOOKED',
  'DOCUMENTS_INCOMPLETE',
  'APPROVED',
  'CONDITIONALLY_APPROVED',
  'WITHDRAWN',
  'DECLINED',
  'INCOMPLETE',
  'PENDING_BANK_CONNECTION',
];

const gateway = await startTestGateway();
afterAll(gateway.close);
const path = gateway.decisionPath;
const { application: applicationId, creditor: creditorId } = gateway.ids;
beforeEach(() => {
  gateway.services.submissions.set(`${applicationId} ${creditorId}`, []);
  gateway.services.calls.length = 0;
});

const post = (body: object, headers: Record<string, string> = {}) =>
  gateway.send('POST', path, { body: { applicationId, decision: 'APPROVED', ...body }, headers });

describe('recording a decision', () => {
  test.each(WRITABLE)('%s is accepted and read back', async (decision) => {
    const recorded = await post({ decision });
    expect(recorded.status).toBe(200);
    expect(recorded.json).toEqual({ applicationId, creditorId, decision });
    const read = await gateway.send('GET', path);
    expect(read.json).toEqual(recorded.json);
  });

  test('every field of the specification reaches the service, and the answer has the fields of getDecision', async () => {
    const figures = {
      firstPaymentDate: '2028-02-29',
      paymentFrequency: 'BI_WEEKLY',
      interestRate: 6.99,
      paymentAmount: 412.55,
      conditions: 'Proof of income: récent, ≤ 30 days 🚗',
    };
    const further = {
      program: 'Prime',
      tier: 'A+',
      salePrice: 28995,
      downPayment: 0,
      rebate: -500,
      dealerAdminFee: 1.1,
      gapInsurance: 2,
      extendedWarranty: 3,
      deliveryDate: '2026-03-01',
      term: 72,
      gpsFee: 4,
      licenseFee: 5,
      lenderAdminFee: 6,
      ppsaFee: 7,
      installationDeliveryFee: 8,
      lifeInsuranceFee: 9,
      ahInsuranceFee: 10,
      otherNonTaxable: 11,
      otherTaxable: 12,
      taxProvince: 'QC',
    };
    const answer = await post({ ...figures, ...further });
    expect(answer.json).toEqual({ applicationId, creditorId, decision: 'APPROVED', ...figures });
    const [sent] = gateway.services.submissions.get(`${applicationId} ${creditorId}`) ?? [];
    expect(sent).toMatchObject({ ...figures, ...further, decision: 3, paymentFrequency: 4 });

    const history = await gateway.send('GET', `${path}s`);
    expect(history.json).toEqual({
      data: [
        {
          sequence: 1,
          recordedAt: '2026-02-01T12:00:00.000Z',
          integrationId: gateway.ids.integration,
          decision: 'APPROVED',
          ...figures,
          ...further,
        },
      ],
      nextCursor: 'next',
    });
  });

  test('an empty text is kept as a value, and is read back', async () => {
    const given = { decision: 'APPROVED', conditions: '' };
    const recorded = await post(given);
    expect(recorded.json).toEqual({ applicationId, creditorId, ...given });
    expect((await gateway.send('GET', path)).json).toEqual(recorded.json);
    const history = await post({ ...given, program: '', tier: '' }).then(() =>
      gateway.send('GET', `${path}s`),
    );
    expect(history.json.data[0]).toMatchObject({ ...given, program: '', tier: '' });
  });

  test.each([
    [
      'AWAITING_DECISION',
      { decision: 'AWAITING_DECISION' },
      '/decision',
      /^must be one of BOOKED, /,
    ],
    ['DRAFT', { decision: 'DRAFT' }, '/decision', /^must be one of BOOKED, /],
    ['an unknown value', { decision: 'approved' }, '/decision', /^must be one of BOOKED, /],
    ['a missing decision', { decision: undefined }, '/decision', /^is required$/],
    ['a decision that is no string', { decision: 3 }, '/decision', /^must be one of /],
    ['a missing applicationId', { applicationId: undefined }, '/applicationId', /^is required$/],
    [
      'a day that does not exist',
      { firstPaymentDate: '2026-02-30' },
      '/firstPaymentDate',
      /calendar date/,
    ],
    [
      'a date with a time',
      { deliveryDate: '2026-02-03T00:00:00Z' },
      '/deliveryDate',
      /calendar date/,
    ],
    ['a number as string', { interestRate: '6.99' }, '/interestRate', /^must be a number$/],
    ['null for a required field', { decision: null }, '/decision', /^must be one of BOOKED, /],
    ['U+0000', { conditions: 'a\0b' }, '/conditions', /^must not contain U\+0000$/],
    ['half of a surrogate pair', { conditions: '\ud83d' }, '/conditions', /half of a surrogate/],
    ['a broken term', { term: 60.5 }, '/term', /^must be a whole number$/],
    [
      'an unknown frequency',
      { paymentFrequency: 'BI-WEEKLY' },
      '/paymentFrequency',
      /SEMI_MONTHLY/,
    ],
    ['an unknown province', { taxProvince: 'XX' }, '/taxProvince', /^must be one of AB, /],
    ['an amount beyond reason', { salePrice: 1e15 }, '/salePrice', /^must be at most /],
    ['a negative term', { term: -1 }, '/term', /^must be at least 1$/],
    ['a negative rate', { interestRate: -0.01 }, '/interestRate', /^must be at least 0$/],
    ['a negative payment', { paymentAmount: -1 }, '/paymentAmount', /^must be at least 0$/],
  ])('%s is refused, and the field is named', async (_, change, pointer, message) => {
    const answer = await post(change);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(answer.json.errors).toEqual([{ pointer, message: expect.stringMatching(message) }]);
    expect(answer.json.message).toMatch(new RegExp(`^${pointer} `));
    expect(gateway.services.called('recordDecision')).toEqual([]);
  });

  test('a number too large for a double is refused', async () => {
    const body = `{"applicationId":"${applicationId}","decision":"APPROVED","interestRate":1e400}`;
    const answer = await gateway.send('POST', path, { body });
    expect(answer.status).toBe(400);
    expect(answer.json.message).toMatch(/^\/interestRate must be at most /);
  });

  test('all fields at fault are named at once', async () => {
    const answer = await post({ decision: 'NO', interestRate: '1', term: 'x' });
    const pointers = answer.json.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers.sort()).toEqual(['/decision', '/interestRate', '/term']);
  });

  test("an applicationId other than the path's is refused", async () => {
    const answer = await post({ applicationId: gateway.ids.otherApplication });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      code: 'application_id_mismatch',
      errors: [{ pointer: '/applicationId', message: 'must be the application in the path' }],
    });
    expect(gateway.services.called('recordDecision')).toEqual([]);
  });

  test('UUIDs are taken in either case and answered in lower case', async () => {
    const upper = applicationId.toUpperCase();
    const answer = await gateway.send('POST', path.replace(applicationId, upper), {
      body: { applicationId: upper, decision: 'BOOKED' },
    });
    expect(answer.json).toEqual({ applicationId, creditorId, decision: 'BOOKED' });
  });

  test('unknown properties, such as maxPayment, are ignored', async () => {
    const more = { creditorId, maxPayment: 900, constructor: 1 };
    const body = JSON.stringify({ applicationId, decision: 'BOOKED', ...more });
    const answer = await gateway.send('POST', path, {
      body: body.replace('{', '{"__proto__":{"a":1},'),
    });
    expect(answer.json).toEqual({ applicationId, creditorId, decision: 'BOOKED' });
    const [sent] = gateway.services.submissions.get(`${applicationId} ${creditorId}`) ?? [];
    expect(sent?.maxPayment).toBeUndefined();
  });

  test('an Idempotency-Key reaches the service, and a replay is marked', async () => {
    const key = { 'Idempotency-Key': 'order 7781, "first" try' };
    const first = await post({ decision: 'BOOKED' }, key);
    expect(first.headers.has('idempotent-replayed')).toBe(false);
    const second = await post({ decision: 'BOOKED' }, key);
    expect(second.status).toBe(200);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.json).toEqual(first.json);
    const [seen] = gateway.services.called('recordDecision');
    expect(seen?.call.idempotency).toMatchObject({
      callerId: gateway.ids.integration,
      key: key['Idempotency-Key'],
    });
  });

  test('an Idempotency-Key of more than 255 characters is refused, naming the header', async () => {
    const answer = await post({}, { 'Idempotency-Key': 'k'.repeat(256) });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([
      { in: 'header', pointer: '/Idempotency-Key', message: 'must have at most 255 characters' },
    ]);
  });
});

describe('reading decisions', () => {
  test.each([
    ['limit=0', 'must be at least 1'],
    ['limit=101', 'must be at most 100'],
    ['limit=ten', 'must be a whole number'],
    ['limit=0x10', 'must be a whole number'],
    ['limit=1e1', 'must be a whole number'],
    ['limit=%201', 'must be a whole number'],
    ['limit=1&limit=2', 'is given more than once'],
  ])('a page with %s is refused', async (query, message) => {
    const answer = await gateway.send('GET', `${path}s?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([{ in: 'query', pointer: '/limit', message }]);
  });

  test('limit and cursor reach the service, 25 being the default', async () => {
    await gateway.send('GET', `${path}s`);
    await gateway.send('GET', `${path}s?limit=7&cursor=abc%2F%2B`);
    const requests = gateway.services.called('listDecisions').map(({ request }) => request);
    expect(requests).toMatchObject([
      { limit: 25, cursor: '' },
      { limit: 7, cursor: 'abc/+' },
    ]);
  });

  test('a cursor that the service refuses is named as a query parameter', async () => {
    const message = 'must be the nextCursor of an earlier page';
    const fields = [{ pointer: '/cursor', message }];
    gateway.services.failures.set('listDecisions', () => invalid('invalid_cursor', 'x', fields));
    const answer = await gateway.send('GET', `${path}s?cursor=abc`);
    gateway.services.failures.clear();
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      code: 'invalid_cursor',
      message: `/cursor in the query ${message}`,
    });
    expect(answer.json.errors).toEqual([{ in: 'query', pointer: '/cursor', message }]);
  });

  test('an id that is no UUID is refused, naming the parameter', async () => {
    const answer = await gateway.send('GET', path.replace(applicationId, 'urn:uuid:1'));
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([
      { in: 'path', pointer: '/applicationId', message: 'must be a UUID' },
    ]);
  });

  test('an unknown submission is 400 on the decision and 404 on its history', async () => {
    const elsewhere = path.replace(applicationId, gateway.ids.otherApplication);
    const latest = await gateway.send('GET', elsewhere);
    expect(latest.status).toBe(400);
    expect(latest.json).toMatchObject({ status: 400, code: 'submission_not_found' });
    const history = await gateway.send('GET', `${elsewhere}s`);
    expect(history.status).toBe(404);
    expect(history.json).toMatchObject({ status: 404, code: 'submission_not_found' });
  });
});
