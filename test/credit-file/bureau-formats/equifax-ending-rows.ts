// What is known of the answers of Equifax Canada: whose file it is, and errors.
import { equifaxAnswer, HIT } from './equifax-answer.ts';
import { type FormatPart, type FormatRow, type Known, nest } from './format-row.ts';

const OTHER = {
  subject: '<SubjectName><LastName>ROY</LastName><FirstName>ANN</FirstName></SubjectName>',
};
const id = (number: string) => `${HIT}<UniqueNumber>${number}</UniqueNumber>`;
const person = (
  wire: string,
  becomes: string,
  known: Known,
  answer: string,
  path: string,
  value: unknown,
): FormatRow => ({
  ...{ wire, becomes, known, path, value },
  answers: [answer],
});

const PERSONS: FormatPart = {
  title: 'Whose file it is',
  rows: [
    person(
      'One report of the applicant',
      'the file',
      'seen',
      equifaxAnswer({}),
      'match.kind',
      'FULL',
    ),
    person(
      'One report of another person',
      'no file',
      'seen',
      equifaxAnswer(OTHER),
      'kind',
      'foreign',
    ),
    person(
      'Two hits of two persons',
      'the file of the applicant',
      'seen',
      equifaxAnswer({ ...OTHER, creditFile: id('1') }, { creditFile: id('2') }),
      'id',
      '2',
    ),
    person(
      'Two hits of the applicant',
      'the first',
      'read',
      equifaxAnswer({ creditFile: id('1') }, { creditFile: id('2') }),
      'id',
      '1',
    ),
    person(
      'CustomerReferenceNumber of another inquiry',
      'no file',
      'read',
      equifaxAnswer({ request: '<CustomerReferenceNumber>x9</CustomerReferenceNumber>' }),
      'kind',
      'foreign',
    ),
    person(
      '@subjectType SUBJ',
      'the file',
      'seen',
      equifaxAnswer({ attributes: ' subjectType="SUBJ" multipleNumber="1"' }),
      'match.kind',
      'FULL',
    ),
    person(
      '@subjectType that was not sent',
      'a match in part',
      'concluded',
      equifaxAnswer({ attributes: ' subjectType="COAP"' }),
      'match.differences.0',
      'SUBJECT_TYPE',
    ),
    person(
      '@requestNumber, of several not the lowest',
      'a match in part',
      'concluded',
      equifaxAnswer({ ...OTHER, around: ' requestNumber="1"' }, { around: ' requestNumber="2"' }),
      'match.differences.0',
      'REQUEST_NUMBER',
    ),
    person(
      'A report without a date of birth',
      'a match in part',
      'read',
      equifaxAnswer({
        subject:
          '<SubjectName><LastName>ONEIL SONS</LastName><FirstName>ZOE</FirstName></SubjectName>',
      }),
      'match.differences.0',
      'DATE_OF_BIRTH_MISSING',
    ),
  ],
};

const error = (code: string, more = '') =>
  `<Error><SourceCode>S</SourceCode><ErrorCode>${code}</ErrorCode><Description>WORDS</Description>${more}</Error>`;
const refusal = (wire: string, path: string, value: unknown, ...errors: string[]): FormatRow => ({
  ...{ wire, becomes: `${path} ${JSON.stringify(value)}`, known: 'read', path, value },
  answers: [`<EfxTransmit>${nest('CNErrorReport/Errors', errors.join(''))}</EfxTransmit>`],
});

const ERRORS: FormatPart = {
  title: 'Errors',
  rows: [
    refusal('ErrorCode E0819', 'reason', 'credentials', error('E0819')),
    refusal('ErrorCode E0807', 'reason', 'rejected', error('E0807')),
    refusal('ErrorCode EV304', 'reason', 'rejected', error('EV304')),
    refusal('ErrorCode EV305', 'reason', 'rejected', error('EV305')),
    refusal(
      'AdditionalInformation with a tag',
      'errors.0.element',
      'DateOfBirth',
      error('E0807', '<AdditionalInformation>DateOfBirth</AdditionalInformation>'),
    ),
    refusal(
      'Several errors',
      'errors',
      [{ code: 'EV304' }, { code: 'EV305' }],
      error('EV304'),
      error('EV305'),
    ),
    {
      ...refusal('An answer that is no XML', 'kind', 'malformed'),
      answers: ['E0819 BAD MEMBER NUMBER'],
    },
  ],
};

export const EQUIFAX_ENDINGS: readonly FormatPart[] = [PERSONS, ERRORS];
