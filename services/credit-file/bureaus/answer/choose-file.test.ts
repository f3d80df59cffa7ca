import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CreditFile } from '../../credit-file.ts';
import type { BureauAnswer } from '../bureau.ts';
import { FORMATS, inquiryAbout } from '../test-formats.ts';
import { chooseFile, type ReadReport } from './choose-file.ts';
import type { Person } from './match-subject.ts';
import { readAnswer } from './read-answer.ts';

const MAYA = { firstName: 'Maya', lastName: 'Tremblay', dateOfBirth: '1988-07-14' };
const ANN = { firstName: 'Ann', lastName: 'Roy', dateOfBirth: '1951-01-02' };
const INQUIRY = inquiryAbout({ subject: MAYA });

function report(
  id: string,
  subject: Person = {},
  { hitType = 'HIT', reference }: { hitType?: CreditFile['hitType']; reference?: string } = {},
): ReadReport {
  return { file: { id, hitType }, unknownCodes: [], subject, reference };
}

/** The id of the chosen file, with how well it matches; or "foreign". */
function chosen(reports: ReadReport[], inquiry = INQUIRY): string {
  const answer = chooseFile(reports, inquiry);
  return answer.kind === 'file' ? `${answer.file.id} ${answer.match?.kind ?? '-'}` : answer.kind;
}

const NO_DATE = { ...MAYA, dateOfBirth: undefined };
const NO_HIT = { hitType: 'NO_HIT' } as const;
const LOCK = { hitType: 'CREDIT_LOCK' } as const;

test.each([
  ['one hit of the person', [report('a', MAYA)], 'a FULL'],
  ['one hit of another person', [report('a', ANN)], 'foreign'],
  ['two hits, the second of the person', [report('a', ANN), report('b', MAYA)], 'b FULL'],
  ['two hits of the person', [report('a', MAYA), report('b', MAYA)], 'a FULL'],
  ['a hit in part and a whole one', [report('a', NO_DATE), report('b', MAYA)], 'b FULL'],
  ['two hits in part', [report('a', NO_DATE), report('b', NO_DATE)], 'a PARTIAL'],
  [
    'a hit of another person and one in part',
    [report('a', ANN), report('b', NO_DATE)],
    'b PARTIAL',
  ],
  [
    'two hits in part of two persons',
    [report('a', { ...NO_DATE, sin: '046454286' }), report('b', { ...NO_DATE, sin: '130692544' })],
    'foreign',
  ],
  ['hits of other persons', [report('a', ANN), report('b', { ...ANN, lastName: 'Ng' })], 'foreign'],
  [
    'a hit of another person and no hit of the person',
    [report('a', MAYA, LOCK), report('b', ANN)],
    'foreign',
  ],
  ['nobody', [report('a', {}, NO_HIT)], 'a -'],
  ['nobody, with the person of the inquiry', [report('a', MAYA, NO_HIT)], 'a -'],
  ['nobody, with another person', [report('a', ANN, NO_HIT)], 'foreign'],
  ['a locked file of the person', [report('a', MAYA, LOCK)], 'a FULL'],
  ['a locked file without a person', [report('a', {}, LOCK)], 'a PARTIAL'],
  ['a locked file of another person', [report('a', ANN, LOCK)], 'foreign'],
  ['no hit, first of another person', [report('a', ANN, LOCK), report('b', MAYA, NO_HIT)], 'b -'],
])('an answer with %s', (_what, reports, expected) => {
  expect(chosen(reports)).toBe(expected);
});

describe('a reference', () => {
  const reference = '0198c0de-0000-7000-8000-00000000f001';
  const inquiry = { ...INQUIRY, reference };

  test.each([reference, reference.toUpperCase(), '0198C0DE0000', '0000f001', ' ', undefined])(
    '"%s" is that of the inquiry, in whole or in part',
    (repeated) => {
      expect(chosen([report('a', MAYA, { reference: repeated ?? '' })], inquiry)).toBe('a FULL');
    },
  );

  test('of another inquiry makes the report foreign, whoever it is about', () => {
    const other = report('a', MAYA, { reference: '0198c0de-0000-7000-8000-00000000f002' });
    expect(chosen([other], inquiry)).toBe('foreign');
    expect(chosen([other, report('b', MAYA, { reference })], inquiry)).toBe('b FULL');
  });

  test('that was not sent is not compared', () => {
    expect(chosen([report('a', MAYA, { reference: 'x' })], { ...INQUIRY, reference: '' })).toBe(
      'a FULL',
    );
  });
});

const persons = fc.uniqueArray(
  fc.record({
    firstName: fc.constantFrom('Ann', 'Maya', 'Jean', 'Jean-Paul', 'J'),
    lastName: fc.constantFrom('Roy', 'Tremblay', 'Tremblay-Côté', "O'Neil"),
    dateOfBirth: fc.constantFrom('1988-07-14', '1951-01-02', '1990-11-30'),
  }),
  {
    minLength: 2,
    maxLength: 5,
    // Persons of one birth date may share so much that a report of one is a match in part for the other.
    selector: ({ dateOfBirth }) => dateOfBirth,
  },
);
const SINS = ['046454286', '130692544', '193456787'];
const left = fc.record({ hasDate: fc.boolean(), hasSin: fc.boolean(), upper: fc.boolean() });

describe.each(['equifax', 'transunion'] as const)('of %s', (name) => {
  test('the chosen report of several persons, in any order, is the applicant’s, or none is', () => {
    fc.assert(
      fc.property(
        persons.chain((people) => fc.tuple(fc.constant(people), fc.shuffledSubarray(people))),
        fc.infiniteStream(left),
        fc.boolean(),
        ([people, present], parts, knowsSin) => {
          const sinOf = (person: (typeof people)[number]) => SINS[people.indexOf(person)] ?? '';
          const [applicant] = people;
          if (applicant === undefined || present.length === 0) return;
          const inquiry = inquiryAbout({
            subject: { ...applicant, ...(knowsSin && { sin: sinOf(applicant) }) },
          });
          // TransUnion's answer has one report.
          const bodies = (name === 'equifax' ? present : present.slice(0, 1)).map((person) => {
            const { hasDate, hasSin, upper } = parts.next().value;
            // Persons of one name differ in the date of birth, or else in a SIN that both inquiry and report have.
            const mayLackDate = hasSin && knowsSin;
            const names = upper
              ? {
                  firstName: person.firstName.toUpperCase(),
                  lastName: person.lastName.toUpperCase(),
                }
              : person;
            return write[name]({
              ...names,
              id: sinOf(person),
              dateOfBirth: hasDate || !mayLackDate ? person.dateOfBirth : '',
              sin: hasSin ? sinOf(person) : '',
            });
          });
          const body = Buffer.from(around[name](bodies.join('')));
          const answer = readAnswer(body, FORMATS[name], inquiry);
          const isThere =
            present.includes(applicant) && (name === 'equifax' || present[0] === applicant);
          expect(ownerOf(answer)).toBe(isThere ? sinOf(applicant) : 'foreign');
        },
      ),
      { numRuns: 500 },
    );
  });
});

interface Written {
  id: string;
  firstName: string;
  lastName: string;
  dateOfBirth: string;
  sin: string;
}

const write = {
  equifax: (it: Written) =>
    `<EfxReport><CNConsumerCreditReports><CNConsumerCreditReport><CNHeader><CreditFile><UniqueNumber>${it.id}</UniqueNumber><HitCode code="1"/></CreditFile>
    <Subject><SubjectName><LastName>${it.lastName}</LastName><FirstName>${it.firstName}</FirstName></SubjectName><SubjectId><SocialInsuranceNumber>${it.sin}</SocialInsuranceNumber>
    <DateOfBirth>${it.dateOfBirth}</DateOfBirth></SubjectId></Subject></CNHeader></CNConsumerCreditReport></CNConsumerCreditReports></EfxReport>`,
  transunion: (it: Written) =>
    `<MemberCode>${it.id}</MemberCode><TU_FFR_Report><Hit>Y</Hit><Names><Name NameType="Primary"><LastName>${it.lastName}</LastName><FirstName>${it.firstName}</FirstName></Name></Names>
    <PersonalInformation><SIN>${it.sin}</SIN><DOB>${it.dateOfBirth.replaceAll('-', '')}</DOB></PersonalInformation></TU_FFR_Report>`,
};
const around = {
  equifax: (reports: string) => `<EfxTransmit>${reports}</EfxTransmit>`,
  transunion: (report: string) => `<REL4Report>${report}</REL4Report>`,
};

/** The id that the report of the chosen file has, or what the answer is. */
function ownerOf(answer: BureauAnswer): string | undefined {
  return answer.kind === 'file' ? (answer.file.id ?? answer.file.customerNumber) : answer.kind;
}
