import { create, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import type { WorksheetSchema } from '@creditlane/proto/applications/v1/application';
import { SubmitApplicationRequestSchema } from '@creditlane/proto/applications/v1/applications_service';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { Fault } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { checkSubmission, type SubmissionFacts } from './submission.ts';

const facts: SubmissionFacts = {
  archived: false,
  hasErasedApplicant: false,
  retailer: { id: 'retailer', retailerGroupId: 'group' },
  applicantIds: ['maya', 'leo'],
  user: { active: true, retailerIds: ['retailer'], retailerGroupIds: [] },
  knownCreditorIds: new Set(['prairie', 'lakehead']),
  submittedCreditorIds: new Set(),
};

const terms = {
  firstPaymentDate: '2027-01-15',
  frequency: PaymentFrequency.MONTHLY,
  interestRate: 7.49,
};

const consents = [
  { applicantId: 'maya', creditConsent: true },
  { applicantId: 'leo', creditConsent: true },
];

type Request = typeof SubmitApplicationRequestSchema;
type RequestInit = Exclude<MessageInitShape<Request>, MessageShape<Request>>;

function check(
  init: RequestInit = {},
  changedFacts: Partial<SubmissionFacts> = {},
): Fault | undefined {
  const request = create(SubmitApplicationRequestSchema, {
    creditorIds: ['prairie', 'lakehead'],
    consents,
    worksheet: { terms },
    ...init,
  });
  try {
    checkSubmission(request, { ...facts, ...changedFacts });
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  return undefined;
}

const pointers = (fault: Fault | undefined) => fault?.fields.map(({ pointer }) => pointer);

describe('a submission', () => {
  test('with terms, consents and an active user of the retailer is accepted', () => {
    expect(check()).toBeUndefined();
  });

  test.each<[string, MessageInitShape<typeof WorksheetSchema>, string]>([
    ['a first payment date', { terms: { ...terms, firstPaymentDate: '' } }, 'firstPaymentDate'],
    [
      'an existing first payment date',
      { terms: { ...terms, firstPaymentDate: '2027-02-29' } },
      'firstPaymentDate',
    ],
    ['a frequency', { terms: { firstPaymentDate: '2027-01-15', interestRate: 1 } }, 'frequency'],
    ['a rate', { terms: { firstPaymentDate: '2027-01-15', frequency: 1 } }, 'interestRate'],
    ['a rate up to 100', { terms: { ...terms, interestRate: 100.01 } }, 'interestRate'],
    ['a rate from 0', { terms: { ...terms, interestRate: -1 } }, 'interestRate'],
    ['at least a month', { terms: { ...terms, term: 0 } }, 'term'],
    ['at most 600 months', { terms: { ...terms, term: 601 } }, 'term'],
    [
      'a first payment date from 2000 on',
      { terms: { ...terms, firstPaymentDate: '1999-12-31' } },
      'firstPaymentDate',
    ],
    ['a delivery date until 2100', { terms, deliveryDate: '2101-01-01' }, 'deliveryDate'],
    ['an existing delivery date', { terms, deliveryDate: '2027-13-01' }, 'deliveryDate'],
    ['amounts from 0', { terms, cashDown: -1 }, 'cashDown'],
    ['a vehicle status in one line', { terms, vehicle: { status: 'NEW\n' } }, 'vehicle/status'],
    ['17 characters of a VIN', { terms, vehicle: { vin: '1HGBH41JXMN1091' } }, 'vehicle/vin'],
    [
      'the check digit of a VIN',
      { terms, vehicle: { vin: '1HGBH41J1MN109186', year: 1991 } },
      'vehicle/vin',
    ],
    ['a vehicle that can be stored', { terms, vehicle: { make: 'a\0' } }, 'vehicle/make'],
    ['texts that can be stored', { terms, tradeIn: 'a\0' }, 'tradeIn'],
    ['a tax up to 100 per cent', { terms, pstHstPercent: 100.5 }, 'pstHstPercent'],
    ['a list price from 0', { terms, vehicle: { msrp: -1 } }, 'vehicle/msrp'],
    [
      'a mileage from 0',
      { terms, vehicle: { odometer: { amount: -1, unit: 'KM' } } },
      'vehicle/odometer/amount',
    ],
    [
      'a single mileage',
      { terms, vehicle: { odometer: { amount: 1, unit: 'KM' }, odometerKm: 1 } },
      'vehicle/odometerKm',
    ],
    [
      'values of options from 0',
      { terms, vehicle: { deductOptions: [{}, { roughValue: -1 }] } },
      'vehicle/deductOptions/1/roughValue',
    ],
    [
      'names of options that can be stored',
      { terms, vehicle: { addOns: ['a\0'] } },
      'vehicle/addOns/0',
    ],
  ])('without %s in its worksheet is refused', (_, worksheet, field) => {
    expect(pointers(check({ worksheet }))).toEqual([`/worksheet/${field}`]);
  });

  test('is refused by a message that says of each consent what it lacks', () => {
    const eve = { applicantId: 'eve', creditConsent: true };
    expect(check({ consents: [{ applicantId: 'maya' }, eve] })?.message).toBe(
      '/consents/0/creditConsent must be true: without the consent the application cannot be submitted; ' +
        '/consents/1/applicantId must name an applicant of the application that no other consent names; ' +
        '/consents must have one consent for each applicant of the application',
    );
  });

  test.each(['NEW', 'USED', 'DEMO', 'Certified pre-owned'])(
    'of a vehicle with the status %s is accepted',
    (status) => {
      expect(check({ worksheet: { terms, vehicle: { status } } })).toBeUndefined();
    },
  );

  test('with a rate of zero is accepted', () => {
    expect(check({ worksheet: { terms: { ...terms, interestRate: 0 } } })).toBeUndefined();
  });

  test.each<[string, RequestInit['consents'], string[]]>([
    ['of one applicant only', consents.slice(1), ['/consents']],
    [
      'that was refused',
      [consents[0] ?? {}, { applicantId: 'leo' }],
      ['/consents/1/creditConsent'],
    ],
    [
      'to a text version that cannot be stored',
      [...consents.slice(1), { applicantId: 'maya', creditConsent: true, textVersion: 'v\0' }],
      ['/consents/1/textVersion'],
    ],
    [
      'given twice',
      [...consents.slice(1), ...consents.slice(1)],
      ['/consents/1/applicantId', '/consents'],
    ],
    [
      'of an unknown applicant',
      [...consents, { applicantId: 'eve', creditConsent: true }],
      ['/consents/2/applicantId'],
    ],
  ])('with consent %s is refused', (_, given, fields) => {
    expect(pointers(check({ consents: given ?? [] }))).toEqual(fields);
  });

  test.each<[string, SubmissionFacts['user'], boolean]>([
    ['an unknown user', undefined, false],
    ['an inactive user', { active: false, retailerIds: ['retailer'], retailerGroupIds: [] }, false],
    ['another retailer’s', { active: true, retailerIds: ['x'], retailerGroupIds: ['y'] }, false],
    ['the group’s', { active: true, retailerIds: [], retailerGroupIds: ['group'] }, true],
  ])('by %s is accepted only if the user may act for the retailer', (_, user, isAccepted) => {
    expect(pointers(check({}, { user }))).toEqual(isAccepted ? undefined : ['/submittedByUserId']);
  });

  test('by a user of a group for a retailer without a group is refused', () => {
    const retailer = { id: 'retailer', retailerGroupId: null };
    const user = { active: true, retailerIds: [], retailerGroupIds: ['group'] };
    expect(check({}, { retailer, user })?.kind).toBe('invalid');
  });

  test('of an application with an erased applicant is a conflict', () => {
    expect(check({}, { hasErasedApplicant: true })?.code).toBe('applicant_erased');
  });

  test('of an archived application is a conflict', () => {
    expect(check({}, { archived: true })?.code).toBe('application_archived');
  });

  test('to an unknown creditor is refused with the creditor’s position', () => {
    const fault = check({}, { knownCreditorIds: new Set(['prairie']) });
    expect(fault).toMatchObject({ kind: 'not_found', code: 'creditor_not_found' });
    const fields = [{ pointer: '/creditorIds/1', message: 'names no creditor' }];
    expect(fault).toMatchObject({ message: '/creditorIds/1 names no creditor', fields });
  });

  test('to a creditor that has the application already is a conflict', () => {
    const fault = check({}, { submittedCreditorIds: new Set(['lakehead']) });
    expect(fault).toMatchObject({
      kind: 'conflict',
      code: 'already_submitted',
      message: '/creditorIds/1 names a creditor that has the application already',
      fields: [{ pointer: '/creditorIds/1' }],
    });
  });

  test('to more than 25 creditors together is a conflict that says how many are left', () => {
    const submitted = (count: number) =>
      new Set(Array.from({ length: count }, (_, n) => `creditor ${n}`));
    expect(check({}, { submittedCreditorIds: submitted(23) })).toBeUndefined();
    expect(check({}, { submittedCreditorIds: submitted(24) })).toMatchObject({
      kind: 'conflict',
      code: 'too_many_creditors',
      message: '/creditorIds must have at most 1: an application can be submitted to 25 creditors',
      fields: [{ pointer: '/creditorIds' }],
    });
  });
});
