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
import { newApplication, shownApplication } from './application.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

type Request = typeof CreateApplicationRequestSchema;
type Given = Exclude<MessageInitShape<Request>, MessageShape<Request>>;
type GivenApplicant = MessageInitShape<typeof ApplicantSchema>;

const maya: GivenApplicant = {
  applicantId: 'of the caller’s making',
  firstName: 'Maya',
  lastName: 'Tremblay',
  sin: '046-454-286',
  dateOfBirth: '1988-07-14',
};

function make(given: Given = {}) {
  let ids = 0;
  const request = create(CreateApplicationRequestSchema, {
    retailerId: 'retailer',
    type: ApplicationType.APPROVAL,
    primaryApplicant: maya,
    ...given,
  });
  return newApplication(request, NOW, () => `id-${++ids}`);
}

function refusedFields(given: Given): string[] {
  try {
    make(given);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.fields.map(({ pointer }) => pointer);
  }
  return [];
}

describe('a new application', () => {
  test('is saved, under ids of the platform’s making, with the number’s bare digits', () => {
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

  test('needs no social insurance number', () => {
    expect(make({ primaryApplicant: { ...maya, sin: '' } }).primaryApplicant?.sin).toBe('');
  });

  test('names all that is wrong with it at once, for each applicant', () => {
    const bad: GivenApplicant = {
      ...maya,
      lastName: ' ',
      sin: '123456789',
      dateOfBirth: '1988-02-30',
      email: 'maya@',
      addressHistory: [{}, { province: 'XX', direction: 'UP', yearsAtAddress: -1 }],
      employmentHistory: [{ status: 'BUSY', type: 'ANY', grossIncome: -0.01 }],
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
      '/coApplicant/sin',
    ]);
  });

  test.each(['2026-03-01', '2026-03-02', '1899-12-31'])('refuses %s as a date of birth', (date) =>
    expect(refusedFields({ primaryApplicant: { ...maya, dateOfBirth: date } })).toEqual([
      '/primaryApplicant/dateOfBirth',
    ]),
  );

  test('never says a refused number', () => {
    const given = { primaryApplicant: { ...maya, sin: '123-456-789' } };
    expect(() => make(given)).toThrow(/primaryApplicant\/sin must be/);
    expect(() => make(given)).not.toThrow(/123/);
  });

  test('has no relationship without a co-applicant', () => {
    const relationship = Relationship.SPOUSE;
    expect(refusedFields({ relationship })).toEqual(['/relationship']);
    expect(refusedFields({ relationship, coApplicant: maya })).toEqual([]);
  });

  test('takes no control characters in its reference number', () => {
    expect(refusedFields({ referenceNumber: 'DEAL\u00001' })).toEqual(['/referenceNumber']);
  });
});

test('an application is shown with the last three digits of each number', () => {
  const application = make({ coApplicant: { ...maya, sin: '' } });
  const shown = shownApplication(application);
  expect(shown.primaryApplicant?.sin).toBe('***-***-286');
  expect(shown.coApplicant?.sin).toBe('');
  expect(application.primaryApplicant?.sin).toBe('046454286');
});
