import { create, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import {
  type ApplicantSchema,
  ApplicationStatus,
  ApplicationType,
  Relationship,
} from '@creditlane/proto/applications/v1/application';
import { CreateApplicationRequestSchema } from '@creditlane/proto/applications/v1/applications_service';
import { Fault } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { maskedApplication, newApplication } from './application.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

type Request = typeof CreateApplicationRequestSchema;
type RequestInit = Exclude<MessageInitShape<Request>, MessageShape<Request>>;
type ApplicantInit = MessageInitShape<typeof ApplicantSchema>;

const maya: ApplicantInit = {
  applicantId: 'chosen by the caller',
  firstName: 'Maya',
  lastName: 'Tremblay',
  sin: '046-454-286',
  dateOfBirth: '1988-07-14',
};

function make(init: RequestInit = {}) {
  let ids = 0;
  const request = create(CreateApplicationRequestSchema, {
    retailerId: 'retailer',
    type: ApplicationType.APPROVAL,
    primaryApplicant: maya,
    ...init,
  });
  return newApplication(request, NOW, () => `id-${++ids}`);
}

function refusedFields(init: RequestInit): string[] {
  try {
    make(init);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.fields.map(({ pointer }) => pointer);
  }
  return [];
}

describe('a new application', () => {
  test('is SAVED, with new ids and the bare digits of the social insurance number', () => {
    const application = make({ referenceNumber: 'DEAL-1' });
    expect(application).toMatchObject({
      status: ApplicationStatus.SAVED,
      referenceNumber: 'DEAL-1',
      primaryApplicant: { sin: '046454286', firstName: 'Maya' },
    });
    expect(application.applicationId).toMatch(/^id-/);
    expect(application.primaryApplicant?.applicantId).toMatch(/^id-/);
    expect(application.primaryApplicant?.applicantId).not.toBe(application.applicationId);
  });

  test('without a social insurance number is accepted', () => {
    expect(make({ primaryApplicant: { ...maya, sin: '' } }).primaryApplicant?.sin).toBe('');
  });

  test('with several faults is refused with all of them, for each applicant', () => {
    const bad: ApplicantInit = {
      ...maya,
      lastName: ' ',
      sin: '123456789',
      dateOfBirth: '1988-02-30',
      email: 'maya@',
      addressHistory: [{}, { province: 'XX', direction: 'UP', yearsAtAddress: -1 }],
      employmentHistory: [
        { status: 'BUSY', type: 'ANY', grossIncome: -0.01 },
        { additionalIncomeSources: ['OTHER', 'LOTTERY'], direction: 'UP', province: 'XX' },
      ],
    };
    expect(refusedFields({ primaryApplicant: bad, coApplicant: { ...maya, sin: 'x' } })).toEqual([
      '/primaryApplicant/sin',
      '/primaryApplicant/lastName',
      '/primaryApplicant/dateOfBirth',
      '/primaryApplicant/email',
      '/primaryApplicant/addressHistory/1/direction',
      '/primaryApplicant/addressHistory/1/province',
      '/primaryApplicant/addressHistory/1/yearsAtAddress',
      '/primaryApplicant/employmentHistory/0/status',
      '/primaryApplicant/employmentHistory/0/type',
      '/primaryApplicant/employmentHistory/0/grossIncome',
      '/primaryApplicant/employmentHistory/1/additionalIncomeSources/1',
      '/primaryApplicant/employmentHistory/1/direction',
      '/primaryApplicant/employmentHistory/1/province',
      '/coApplicant/sin',
    ]);
  });

  test.each(['2026-03-01', '2026-03-02', '2101-01-01', '1899-12-31', '1906-02-28'])(
    'with the date of birth %s is refused',
    (date) =>
      expect(refusedFields({ primaryApplicant: { ...maya, dateOfBirth: date } })).toEqual([
        '/primaryApplicant/dateOfBirth',
      ]),
  );

  test('of a person who is 120 years old today is accepted', () => {
    expect(refusedFields({ primaryApplicant: { ...maya, dateOfBirth: '1906-03-01' } })).toEqual([]);
  });

  test.each([
    ['Maya', ''],
    ['', 'Suharto'],
  ])('of a person with one name is accepted: "%s" and "%s"', (firstName, lastName) => {
    const { primaryApplicant } = make({ primaryApplicant: { ...maya, firstName, lastName } });
    expect(primaryApplicant).toMatchObject({ firstName, lastName });
  });

  test('of a person without a name is refused', () => {
    const nobody = { ...maya, firstName: '', lastName: '' };
    expect(refusedFields({ primaryApplicant: nobody })).toEqual(['/primaryApplicant/lastName']);
  });

  test('has telephone numbers and postal codes in one form, those of the employer, too', () => {
    const spelt: ApplicantInit = {
      ...maya,
      phoneNumber: '(514) 555-0143',
      addressHistory: [{ postalCode: 'h3g-1h9', province: 'QC' }, { postalCode: 'K1A  0B1' }, {}],
      employmentHistory: [
        { employmentPhone: '514 555-0100 poste 12', postalCode: 'k1a0s5', province: 'QC' },
      ],
    };
    expect(make({ primaryApplicant: spelt }).primaryApplicant).toMatchObject({
      phoneNumber: '+15145550143',
      addressHistory: [{ postalCode: 'H3G 1H9' }, { postalCode: 'K1A 0B1' }, { postalCode: '' }],
      employmentHistory: [{ employmentPhone: '+15145550100 ext. 12', postalCode: 'K1A 0S5' }],
    });
  });

  test.each([
    ['an unknown telephone number', { phoneNumber: 'abc' }, 'phoneNumber'],
    [
      'an unknown telephone number of the employer',
      { employmentHistory: [{ employmentPhone: '0'.repeat(40) }] },
      'employmentHistory/0/employmentPhone',
    ],
    [
      'an address of two lines',
      { addressHistory: [{ streetName: 'Birch\nOttawa' }] },
      'addressHistory/0/streetName',
    ],
    [
      'a turned employer',
      { employmentHistory: [{ employerName: 'Bakery\u202e' }] },
      'employmentHistory/0/employerName',
    ],
    [
      'a postal code with a letter O',
      { addressHistory: [{ postalCode: 'K1O 0B1' }] },
      'addressHistory/0/postalCode',
    ],
    [
      'a postal code of another province',
      { addressHistory: [{}, { postalCode: 'K1P 5G4', province: 'QC' }] },
      'addressHistory/1/postalCode',
    ],
    [
      'a ZIP code of the employer',
      { employmentHistory: [{ postalCode: '90210' }] },
      'employmentHistory/0/postalCode',
    ],
  ])('with %s is refused', (_, change: ApplicantInit, field) => {
    const primaryApplicant = { ...maya, ...change } as ApplicantInit;
    expect(refusedFields({ primaryApplicant })).toEqual([`/primaryApplicant/${field}`]);
  });

  test('with an invalid social insurance number is refused without repeating the number', () => {
    const init = { primaryApplicant: { ...maya, sin: '123-456-789' } };
    expect(() => make(init)).toThrow(/primaryApplicant\/sin must be/);
    expect(() => make(init)).not.toThrow(/123/);
  });

  test('with a relationship and no co-applicant is refused', () => {
    const relationship = Relationship.SPOUSE;
    expect(refusedFields({ relationship })).toEqual(['/relationship']);
    expect(refusedFields({ relationship, coApplicant: maya })).toEqual([]);
  });

  test('with a control character in its reference number is refused', () => {
    expect(refusedFields({ referenceNumber: 'DEAL\u00001' })).toEqual(['/referenceNumber']);
  });
});

test('a masked application has the last three digits of each social insurance number', () => {
  const application = make({ coApplicant: { ...maya, sin: '' } });
  const masked = maskedApplication(application);
  expect(masked.primaryApplicant?.sin).toBe('***-***-286');
  expect(masked.coApplicant?.sin).toBe('');
  expect(application.primaryApplicant?.sin).toBe('046454286');
});
