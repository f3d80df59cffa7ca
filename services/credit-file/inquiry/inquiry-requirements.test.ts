import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type AddressSchema, ApplicantSchema } from '@creditlane/proto/applications/v1/application';
import { describe, expect, test } from 'vitest';
import { SOURCES } from '../bureaus/bureau.ts';
import { findInquiryProblems } from './inquiry-requirements.ts';

const NOW = new Date('2026-03-15T16:00:00Z');
const ADDRESS = {
  ...{ addressType: 'CURRENT', streetNo: '12', streetName: 'Birch' },
  ...{ city: 'Ottawa', province: 'ON' },
};
const PERSON: MessageInitShape<typeof ApplicantSchema> = {
  ...{ firstName: 'Amélie', lastName: 'Tremblay', dateOfBirth: '1987-04-12' },
  addressHistory: [ADDRESS],
};

/** The fields that keep each bureau from being asked. */
function problemsOf(change: MessageInitShape<typeof ApplicantSchema>, now = NOW): string[] {
  const applicant = create(ApplicantSchema, { ...PERSON, ...change } as typeof PERSON);
  const all = SOURCES.map((source) => findInquiryProblems(applicant, source, now));
  const [fields = [], others] = all.map((it) => it.map(({ pointer }) => pointer));
  expect(others).toEqual(fields);
  return fields;
}

test('a whole person has none', () => {
  expect(problemsOf({})).toEqual([]);
});

test.each([
  ['firstName', ''],
  ['firstName', '-'],
  ['lastName', ' '],
])('without a %s ("%s") none is sent', (field, value) => {
  expect(problemsOf({ [field]: value })).toEqual([`/${field}`]);
});

describe('the current address', () => {
  const withAddress = (change: MessageInitShape<typeof AddressSchema>) =>
    problemsOf({ addressHistory: [{ ...ADDRESS, ...change } as typeof ADDRESS] });

  test.each([
    ['without a city', { city: ' ' }, ['/addressHistory/0/city']],
    ['without a province', { province: '' }, ['/addressHistory/0/province']],
    ['in an unknown province', { province: 'XX' }, ['/addressHistory/0/province']],
    ['without a street', { streetName: '', streetNo: '12' }, ['/addressHistory/0/streetName']],
    ['with a post-office box for a street', { streetName: '', pOBoxNumber: '12' }, []],
    [
      'with a postal code of another province',
      { postalCode: 'H2X 3J6' },
      ['/addressHistory/0/postalCode'],
    ],
    ['with a postal code of its province', { postalCode: 'k1a-0b1' }, []],
    ['without a number and a postal code', { streetNo: '' }, []],
  ])('%s has the problems %j', (_what, change, problems) => {
    expect(withAddress(change)).toEqual(problems);
  });

  test('is the one that says so, and otherwise one that says nothing', () => {
    const former = { ...ADDRESS, addressType: 'PREVIOUS' };
    const broken = { ...ADDRESS, city: '' };
    expect(problemsOf({ addressHistory: [former, broken] })).toEqual(['/addressHistory/1/city']);
    expect(problemsOf({ addressHistory: [former, { ...broken, addressType: '' }] })).toEqual([
      '/addressHistory/1/city',
    ]);
    expect(problemsOf({ addressHistory: [former] })).toEqual(['/addressHistory']);
    expect(problemsOf({ addressHistory: [] })).toEqual(['/addressHistory']);
  });
});

describe('the age of majority', () => {
  test.each([
    ...['AB', 'MB', 'ON', 'PE', 'QC', 'SK'].map((province) => [province, 18] as const),
    ...['BC', 'NB', 'NL', 'NS', 'NT', 'NU', 'YT'].map((province) => [province, 19] as const),
  ])('in %s is %d', (province, age) => {
    const addressHistory = [{ ...ADDRESS, province }];
    const born = (date: string) => problemsOf({ addressHistory, dateOfBirth: date });
    expect(born(`${2026 - age}-03-15`)).toEqual([]);
    expect(born(`${2026 - age}-03-16`)).toEqual(['/dateOfBirth']);
  });

  test('is reached by the day in Toronto', () => {
    const dateOfBirth = '2008-03-15';
    expect(problemsOf({ dateOfBirth }, new Date('2026-03-15T03:59:00Z'))).toEqual(['/dateOfBirth']);
    expect(problemsOf({ dateOfBirth }, new Date('2026-03-15T04:00:00Z'))).toEqual([]);
  });

  test('of a person born on February 29 is reached on March 1', () => {
    const dateOfBirth = '2008-02-29';
    expect(problemsOf({ dateOfBirth }, new Date('2026-02-28T16:00:00Z'))).toEqual(['/dateOfBirth']);
    expect(problemsOf({ dateOfBirth }, new Date('2026-03-01T16:00:00Z'))).toEqual([]);
  });
});
