import { create, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import type { WorksheetSchema } from '@creditlane/proto/applications/v1/application';
import { SubmitApplicationRequestSchema } from '@creditlane/proto/applications/v1/applications_service';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { Fault } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { checkSubmission, type SubmissionFacts } from './submission.ts';

const facts: SubmissionFacts = {
  archived: false,
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
type Given = Exclude<MessageInitShape<Request>, MessageShape<Request>>;

function judge(given: Given = {}, known: Partial<SubmissionFacts> = {}): Fault | undefined {
  const request = create(SubmitApplicationRequestSchema, {
    creditorIds: ['prairie', 'lakehead'],
    consents,
    worksheet: { terms },
    ...given,
  });
  try {
    checkSubmission(request, { ...facts, ...known });
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  return undefined;
}

const pointers = (fault: Fault | undefined) => fault?.fields.map(({ pointer }) => pointer);

describe('a submission', () => {
  test('is good with terms, consents and an active user of the retailer', () => {
    expect(judge()).toBeUndefined();
  });

  test.each<[string, MessageInitShape<typeof WorksheetSchema>, string]>([
    ['a first payment date', { terms: { ...terms, firstPaymentDate: '' } }, 'firstPaymentDate'],
    ['a real one', { terms: { ...terms, firstPaymentDate: '2027-02-29' } }, 'firstPaymentDate'],
    ['a frequency', { terms: { firstPaymentDate: '2027-01-15', interestRate: 1 } }, 'frequency'],
    ['a rate', { terms: { firstPaymentDate: '2027-01-15', frequency: 1 } }, 'interestRate'],
    ['a rate up to 100', { terms: { ...terms, interestRate: 100.01 } }, 'interestRate'],
    ['a rate from 0', { terms: { ...terms, interestRate: -1 } }, 'interestRate'],
    ['at least a month', { terms: { ...terms, term: 0 } }, 'term'],
    ['a real delivery date', { terms, deliveryDate: '2027-13-01' }, 'deliveryDate'],
    ['no negative amount', { terms, cashDown: -1 }, 'cashDown'],
    ['a vehicle new or used', { terms, vehicle: { status: 'OLD' } }, 'vehicle/status'],
    ['a vehicle that can be kept', { terms, vehicle: { make: 'a\0' } }, 'vehicle/make'],
  ])('needs of its worksheet %s', (_, worksheet, field) => {
    expect(pointers(judge({ worksheet }))).toEqual([`/worksheet/${field}`]);
  });

  test('takes a rate of zero', () => {
    expect(judge({ worksheet: { terms: { ...terms, interestRate: 0 } } })).toBeUndefined();
  });

  test.each<[string, Given['consents'], string[]]>([
    ['of one applicant only', consents.slice(1), ['/consents']],
    [
      'that was refused',
      [consents[0] ?? {}, { applicantId: 'leo' }],
      ['/consents/1/creditConsent'],
    ],
    [
      'given twice',
      [...consents.slice(1), ...consents.slice(1)],
      ['/consents/1/applicantId', '/consents'],
    ],
    [
      'of a stranger',
      [...consents, { applicantId: 'eve', creditConsent: true }],
      ['/consents/2/applicantId'],
    ],
  ])('is refused with consent %s', (_, given, fields) => {
    expect(pointers(judge({ consents: given ?? [] }))).toEqual(fields);
  });

  test.each<[string, SubmissionFacts['user'], boolean]>([
    ['nobody', undefined, false],
    ['an inactive user', { active: false, retailerIds: ['retailer'], retailerGroupIds: [] }, false],
    ['another retailer’s', { active: true, retailerIds: ['x'], retailerGroupIds: ['y'] }, false],
    ['the group’s', { active: true, retailerIds: [], retailerGroupIds: ['group'] }, true],
  ])('made by %s', (_, user, good) => {
    expect(pointers(judge({}, { user }))).toEqual(good ? undefined : ['/submittedByUserId']);
  });

  test('is not made by a user of no group for a retailer of none', () => {
    const retailer = { id: 'retailer', retailerGroupId: null };
    const user = { active: true, retailerIds: [], retailerGroupIds: ['group'] };
    expect(judge({}, { retailer, user })?.kind).toBe('invalid');
  });

  test('of an archived application is a conflict', () => {
    expect(judge({}, { archived: true })?.code).toBe('application_archived');
  });

  test('names the creditor that there is not', () => {
    const fault = judge({}, { knownCreditorIds: new Set(['prairie']) });
    expect(fault).toMatchObject({ kind: 'not_found', code: 'creditor_not_found' });
    expect(fault?.message).toContain('creditorIds/1');
  });

  test('is a conflict when one of its creditors has the application already', () => {
    const fault = judge({}, { submittedCreditorIds: new Set(['lakehead']) });
    expect(fault).toMatchObject({ kind: 'conflict', code: 'already_submitted' });
  });
});
