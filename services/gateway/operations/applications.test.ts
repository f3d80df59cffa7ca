import { toBinary } from '@bufbuild/protobuf';
import { WorksheetSchema } from '@creditlane/proto/applications/v1/application';
import type { SubmitApplicationRequest } from '@creditlane/proto/applications/v1/applications_service';
import { fieldFault, invalid } from '@creditlane/rpc/fault';
import { MAX_ANSWER_BYTES } from '@creditlane/rpc/server-options';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { openApiDocument } from '../document/openapi-document.ts';
import type { ValueSchema } from '../document/test-schema-values.ts';
import { longestText } from '../hostile-bodies/test-hostile-bodies.ts';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
afterAll(gateway.close);
afterEach(() => gateway.services.failures.clear());

const applicant = {
  firstName: 'Maya',
  lastName: 'Tremblay',
  sin: '046 454 286',
  dateOfBirth: '1988-07-14',
  email: 'maya@example.com',
  addressHistory: [
    { city: 'Montreal', province: 'QC', monthlyRentOrMortgage: 1450, yearsAtAddress: 0 },
  ],
  employmentHistory: [
    {
      employerName: 'Bakery',
      incomeFrequency: 'BI_WEEKLY',
      grossIncome: 2100,
      additionalIncomeSources: ['PENSIONS'],
    },
  ],
};

const document = openApiDocument();
const longest = (name: string): object =>
  JSON.parse(longestText(document, document.components.schemas?.[name] as ValueSchema));

const create = (change: object = {}, headers: Record<string, string> = {}) =>
  gateway.send('POST', '/v1/applications', {
    headers,
    body: {
      retailerId: gateway.ids.retailer,
      type: 'PRE_APPROVAL',
      referenceNumber: 'DEAL-42',
      primaryApplicant: applicant,
      ...change,
    },
  });

describe('creating an application', () => {
  test('answers 201 with the application, and it can be read', async () => {
    const coApplicant = { ...applicant, firstName: 'Luc' };
    const applicantId = expect.any(String);
    const made = await create({ coApplicant, relationship: 'IN_LAW' });
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      applicationId: expect.any(String),
      retailerId: gateway.ids.retailer,
      type: 'PRE_APPROVAL',
      status: 'DRAFT',
      referenceNumber: 'DEAL-42',
      primaryApplicant: { ...applicant, applicantId },
      coApplicant: { ...coApplicant, applicantId },
      relationship: 'IN_LAW',
      submissions: [],
      createdAt: '2026-02-01T10:00:00.000Z',
    });
    const read = await gateway.send('GET', `/v1/applications/${made.json.applicationId}`);
    expect(read.json).toEqual(made.json);
  });

  test('takes the retailer from X-Service-Retailer-ID when the body names none', async () => {
    const header = { 'X-Service-Retailer-ID': gateway.ids.retailer.toUpperCase() };
    const made = await create({ retailerId: undefined }, header);
    expect(made.status).toBe(201);
    expect(made.json.retailerId).toBe(gateway.ids.retailer);
  });

  test.each([
    ['no retailer at all', () => ({ retailerId: undefined }), false, '/retailerId'],
    ['two retailers', () => ({ retailerId: newId() }), true, '/retailerId'],
    ['no type', () => ({ type: undefined }), false, '/type'],
    ['no applicant', () => ({ primaryApplicant: undefined }), false, '/primaryApplicant'],
    [
      'a wrong SIN',
      () => ({ primaryApplicant: { ...applicant, sin: '12' } }),
      false,
      '/primaryApplicant/sin',
    ],
    [
      'an unknown province',
      () => ({ primaryApplicant: { ...applicant, addressHistory: [{ province: 'Quebec' }] } }),
      false,
      '/primaryApplicant/addressHistory/0/province',
    ],
  ])('with %s is refused, naming the field', async (_, change, inHeader, at) => {
    const headers = inHeader && { 'X-Service-Retailer-ID': gateway.ids.retailer };
    const answer = await create(change(), headers || {});
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toMatchObject([{ pointer: at }]);
    // What was refused is not quoted back.
    expect(answer.text).not.toContain('"12"');
  });
});

describe('submitting an application', () => {
  const worksheet = {
    firstPaymentDate: '2026-03-31',
    frequency: 'MONTHLY',
    interestRate: 7.49,
    term: 60,
    salePrice: 28995,
    vehicle: {
      vin: '1HGBH41JXMN109186',
      year: 2024,
      status: 'USED',
      odometer: { amount: 18250, unit: 'KM' },
      addOnOptions: [{ name: 'Navigation', auto: false, cleanValue: 350 }],
      deductOptions: [],
      addOns: ['Winter tires'],
      deducts: [],
    },
  };
  const applicantId = newId();
  const submit = (change: object = {}) =>
    gateway.send('POST', `/v1/applications/${gateway.ids.application}/submit`, {
      body: {
        submittedByUserId: newId(),
        creditorIds: [gateway.ids.creditor.toUpperCase()],
        consents: [{ applicantId: applicantId.toUpperCase(), creditConsent: true }],
        worksheet,
        ...change,
      },
    });

  test('answers with the submissions, the terms among the worksheet', async () => {
    const answer = await submit();
    expect(answer.status).toBe(200);
    expect(answer.json.status).toBe('SUBMITTED');
    expect(answer.json.submissions).toEqual([
      { creditorId: gateway.ids.creditor, submittedAt: '2026-02-01T11:00:00.000Z', worksheet },
    ]);
    const sent = gateway.services.called('submitApplication').at(-1)?.request;
    expect(sent).toMatchObject({
      consents: [{ applicantId, creditConsent: true }],
      worksheet: { salePrice: 28995, terms: { interestRate: 7.49, term: 60, frequency: 1 } },
    });
  });

  test.each([
    ['no consent', { consents: [] }, '/consents'],
    ['no creditor', { creditorIds: [] }, '/creditorIds'],
    [
      'a worksheet without a rate',
      { worksheet: { ...worksheet, interestRate: undefined } },
      '/worksheet/interestRate',
    ],
    [
      'a consent in words',
      { consents: [{ applicantId: newId(), creditConsent: 'yes' }] },
      '/consents/0/creditConsent',
    ],
  ])('with %s is refused, naming the field', async (_, change, pointer) => {
    const answer = await submit(change);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toMatchObject([{ pointer }]);
  });

  test('25 of the longest worksheets and the longest applicants are within the largest answer of a service', async () => {
    const { applicationId } = (await create()).json as { applicationId: string };
    gateway.services.calls.length = 0;
    const consents = [{ applicantId: newId(), creditConsent: true }];
    const body = { ...longest('SubmissionWrite'), consents };
    expect(
      (await gateway.send('POST', `/v1/applications/${applicationId}/submit`, { body })).status,
    ).toBe(200);
    const [{ request } = expect.unreachable()] = gateway.services.called('submitApplication');
    const { worksheet = expect.unreachable() } = request as SubmitApplicationRequest;
    const worksheetBytes = toBinary(WorksheetSchema, worksheet).byteLength;
    // As JSON, they have more bytes than between services.
    const applicationBytes = Buffer.byteLength(JSON.stringify(longest('ApplicationWrite')));
    expect(worksheetBytes).toBeGreaterThan(170 * 1024);
    expect(25 * worksheetBytes + applicationBytes).toBeLessThan(MAX_ANSWER_BYTES);
  });

  test('with a rate out of its bounds is refused by the schema', async () => {
    for (const interestRate of [-0.01, 100.01]) {
      const { json } = await submit({ worksheet: { ...worksheet, interestRate } });
      expect(json.message).toMatch(/^\/worksheet\/interestRate must be at (least 0|most 100)$/);
    }
  });

  test('names the creditors that the service refuses', async () => {
    const field = { pointer: '/creditorIds/0', message: 'names no creditor' };
    gateway.services.failures.set('submitApplication', () =>
      fieldFault('not_found', 'creditor_not_found', field),
    );
    const { status, json } = await submit();
    expect([status, json.code, json.errors]).toEqual([404, 'creditor_not_found', [field]]);
  });

  test("a term refused by the service is named in the worksheet's own place", async () => {
    const fields = [{ pointer: '/worksheet/terms/term', message: 'must not be negative' }];
    gateway.services.failures.set('submitApplication', () =>
      invalid('invalid_submission', 'x', fields),
    );
    const answer = await submit();
    expect(answer.json).toMatchObject({
      status: 400,
      message: '/worksheet/term must not be negative',
      errors: [{ pointer: '/worksheet/term' }],
    });
  });
});

describe('archiving an application', () => {
  const archive = (applicationId: string) =>
    gateway.send('POST', `/v1/applications/${applicationId}/archive`);

  test('takes no body, and answers with the archived application', async () => {
    const answer = await archive(gateway.ids.application);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      applicationId: gateway.ids.application,
      status: 'ARCHIVED',
    });
  });

  test('of another tenant is 404, as for one that does not exist', async () => {
    for (const id of [gateway.ids.otherApplication, newId()]) {
      const answer = await archive(id);
      expect([answer.status, answer.json.code]).toEqual([404, 'application_not_found']);
    }
  });
});
