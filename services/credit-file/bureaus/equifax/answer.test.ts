import { describe, expect, test } from 'vitest';
import { readCodeTables } from '../answer/code-tables.ts';
import { parseXml } from '../answer/xml-document.ts';
import {
  EQUIFAX_OPTIONS,
  equifaxAnswer,
  equifaxReport,
  INQUIRY,
  readAnswer,
  readFile,
} from '../test-formats.ts';
import { escapeXml } from '../xml-text.ts';
import { readEquifaxAnswer } from './answer.ts';

const hitCode = (code: string) => `<HitCode code="${code}"/>`;
const score = (value: string) =>
  `<CNScores><CNScore><Result><Value>${value}</Value></Result></CNScore></CNScores>`;
const error = (code: string, description = '') =>
  `<Error><SourceCode>S</SourceCode><ErrorCode>${code}</ErrorCode><Description>${description}</Description></Error>`;
const errorReport = (errors: string) => `<CNErrorReport><Errors>${errors}</Errors></CNErrorReport>`;

describe('an answer with several reports', () => {
  const reports = [
    equifaxReport(score('00001'), hitCode('2')),
    equifaxReport(score('00002'), hitCode('1')),
    equifaxReport(score('00003'), hitCode('1')),
  ].join('');
  const body = `<EfxTransmit>${reports}</EfxTransmit>`;

  test('gives the first one with a hit', () => {
    expect(readFile('equifax', body).file.scores).toEqual([{ number: 2, value: '2' }]);
  });

  test('gives the first one with a hit, also by the code that an operator has given it', () => {
    const { equifax: tables } = readCodeTables('equifax: { hitType: { "1": NO_HIT, "2": HIT } }');
    const options = { tables, partialDateDay: 1, reportRule: 'FIRST_HIT' as const };
    const answer = readEquifaxAnswer(parseXml(body), options, INQUIRY);
    expect(answer).toMatchObject({ file: { scores: [{ number: 1 }] }, unknownCodes: [] });
  });

  test('gives the first one when none has a hit', () => {
    const without = body.replaceAll('code="1"', 'code="2"');
    expect(readFile('equifax', without).file.scores).toEqual([{ number: 1, value: '1' }]);
  });

  test('gives the first one when the settings say so', () => {
    const tables = readCodeTables().equifax;
    const options = { tables, partialDateDay: 1, reportRule: 'FIRST' as const };
    expect(readEquifaxAnswer(parseXml(body), options, INQUIRY)).toMatchObject({
      file: { hitType: 'NO_HIT' },
    });
  });
});

describe('an answer about persons', () => {
  const named = (id: string, lastName: string, dateOfBirth: string) => {
    const subject = `<Subject><SubjectName><LastName>${lastName}</LastName><FirstName>ZOE</FirstName></SubjectName>
      <SubjectId><DateOfBirth>${dateOfBirth}</DateOfBirth></SubjectId></Subject>`;
    const creditFile = `${hitCode('1')}<UniqueNumber>${id}</UniqueNumber></CreditFile>${subject}<CreditFile>`;
    return equifaxReport('', creditFile);
  };
  const answer = (...reports: string[]) => `<EfxTransmit>${reports.join('')}</EfxTransmit>`;
  const other = named('1', 'ROY', '1951-01-02');
  const own = named('2', 'ONEIL SONS', '1976-02-29');

  test('gives the file of the person of the inquiry', () => {
    expect(readFile('equifax', answer(other, own))).toMatchObject({
      file: { id: '2' },
      match: { kind: 'FULL' },
    });
  });

  test('is foreign when none of them is the person of the inquiry', () => {
    expect(readAnswer('equifax', answer(other))).toEqual({ kind: 'foreign' });
  });

  test('is foreign when the first is somebody else, where the first alone may be the file', () => {
    const options = { ...EQUIFAX_OPTIONS, reportRule: 'FIRST' as const };
    const readFirst = (...reports: string[]) =>
      readEquifaxAnswer(parseXml(answer(...reports)), options, INQUIRY);
    expect(readFirst(other, own)).toEqual({ kind: 'foreign' });
    expect(readFirst(own, other)).toMatchObject({ file: { id: '2' } });
  });

  test('with a birth date without a day is compared by the month, whatever day it gets', () => {
    const options = { ...EQUIFAX_OPTIONS, partialDateDay: 15 };
    const read = (date: string) =>
      readEquifaxAnswer(parseXml(answer(named('2', 'ONEIL SONS', date))), options, INQUIRY);
    expect(read('1976-02')).toMatchObject({
      file: { subject: { dateOfBirth: '1976-02-15' } },
      match: { kind: 'FULL' },
    });
    expect(read('1975-03')).toEqual({ kind: 'foreign' });
  });

  test.each([
    ['SUBJ', { kind: 'FULL' }],
    ['subj ', { kind: 'FULL' }],
    ['', { kind: 'FULL' }],
    ['COAP', { kind: 'PARTIAL', differences: ['SUBJECT_TYPE'] }],
  ])('with the subject type "%s" matches as %o', (type, match) => {
    const body = answer(own).replace(
      '<CNConsumerCreditReport>',
      `<CNConsumerCreditReport subjectType="${type}" multipleNumber="2">`,
    );
    expect(readFile('equifax', body).match).toEqual(match);
  });

  test('with a subject type that an operator has named is whole', () => {
    const { equifax: tables } = readCodeTables('equifax: { subjectType: { S: SUBJECT } }');
    const body = answer(own).replace(
      '<CNConsumerCreditReport>',
      '<CNConsumerCreditReport subjectType="S">',
    );
    expect(
      readEquifaxAnswer(parseXml(body), { ...EQUIFAX_OPTIONS, tables }, INQUIRY),
    ).toMatchObject({
      match: { kind: 'FULL' },
    });
  });

  test('with several request numbers, of which one request was sent, prefers the lowest', () => {
    const numbered = (report: string, number: number) =>
      report.replace('<EfxReport>', `<EfxReport reportId="1" requestNumber="${number}">`);
    const third = named('3', 'ONEIL SONS', '1976-02-29');
    expect(readFile('equifax', answer(numbered(own, 2), numbered(third, 1)))).toMatchObject({
      file: { id: '3' },
      match: { kind: 'FULL' },
    });
    expect(readFile('equifax', answer(numbered(other, 1), numbered(own, 2)))).toMatchObject({
      file: { id: '2' },
      match: { kind: 'PARTIAL', differences: ['REQUEST_NUMBER'] },
    });
    expect(readFile('equifax', answer(numbered(own, 7))).match).toEqual({ kind: 'FULL' });
  });

  test('is foreign when its reference is that of another inquiry', () => {
    const withReference = (reference: string) =>
      answer(own).replace(
        '<CNHeader>',
        `<CNHeader><Request><CustomerReferenceNumber>${reference}</CustomerReferenceNumber></Request>`,
      );
    expect(readAnswer('equifax', withReference('b2'))).toEqual({ kind: 'foreign' });
    expect(readAnswer('equifax', withReference(INQUIRY.reference))).toMatchObject({ kind: 'file' });
  });
});

describe('an error report', () => {
  test.each([
    ['E0819', 'credentials'],
    ['E0807', 'rejected'],
    ['EV304', 'rejected'],
    ['EV305', 'rejected'],
    ['E9999', 'rejected'],
  ])('with %s is a refusal for the reason "%s"', (code, reason) => {
    const body = `<EfxTransmit>${errorReport(error(code, 'WORDS'))}</EfxTransmit>`;
    expect(readAnswer('equifax', body)).toEqual({
      ...{ kind: 'refused', reason, code },
      errors: [{ code }],
    });
  });

  test('with several errors is a refusal for the credentials if one is about them, and keeps all', () => {
    const missing = error('E0807', 'WORDS').replace(
      '</Error>',
      '<AdditionalInformation>DateOfBirth</AdditionalInformation></Error>',
    );
    const body = errorReport(error('EV304') + missing + error('E0819'));
    expect(readAnswer('equifax', body)).toMatchObject({
      ...{ reason: 'credentials', code: 'E0819' },
      errors: [{ code: 'E0819' }, { code: 'EV304' }, { code: 'E0807', element: 'DateOfBirth' }],
    });
  });

  test('beside a report without a hit code is a refusal', () => {
    const report = equifaxReport('', '');
    const body = `<EfxTransmit>${report}${errorReport(error('E0807'))}</EfxTransmit>`;
    expect(readAnswer('equifax', body)).toMatchObject({ kind: 'refused', code: 'E0807' });
  });

  test('without errors is malformed', () => {
    expect(readAnswer('equifax', errorReport(''))).toMatchObject({ kind: 'malformed' });
  });
});

describe('an answer in a SOAP envelope', () => {
  const inEnvelope = (contents: string) =>
    `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body><SubmitResponse><SubmitResult>${contents}</SubmitResult></SubmitResponse></s:Body></s:Envelope>`;
  const answer = equifaxAnswer(score('00686'));

  test.each([
    ['as XML', inEnvelope(answer)],
    ['as text', inEnvelope(escapeXml(`<?xml version="1.0"?>${answer}`))],
  ])('%s gives the file', (_name, body) => {
    expect(readFile('equifax', body)).toEqual(readFile('equifax', answer));
  });

  test('as text that is cut is malformed', () => {
    const cut = inEnvelope(escapeXml(answer.slice(0, -20)));
    expect(readAnswer('equifax', cut)).toMatchObject({ kind: 'malformed' });
  });
});

test('a consumer’s statement that holds a whole answer is a text', () => {
  const statement = equifaxAnswer(score('00900'));
  const sections = `<CNConsumerStatements><CNConsumerStatement><Statement>${escapeXml(statement)}</Statement></CNConsumerStatement></CNConsumerStatements>`;
  const { file } = readFile('equifax', equifaxAnswer(sections));
  expect(file.scores).toBeUndefined();
  expect(file.consumerStatements).toEqual([{ statement }]);
  const nothing = `<EfxTransmit><Other>${escapeXml(statement)}</Other><Other/></EfxTransmit>`;
  expect(readAnswer('equifax', nothing)).toMatchObject({ kind: 'malformed' });
});

test.each([
  ['without report and error', '<EfxTransmit/>'],
  ['with a report without a hit code', equifaxAnswer('', '')],
  ['with a report with an empty hit code', equifaxAnswer('', '<HitCode code=" " description=""/>')],
  ['that is a page', '<html><body>Sign in</body></html>'],
  ['of the other bureau', '<REL4Report><TU_FFR_Report><Hit>Y</Hit></TU_FFR_Report></REL4Report>'],
])('an answer %s is malformed', (_name, body) => {
  expect(readAnswer('equifax', body)).toMatchObject({ kind: 'malformed' });
});

test('an unknown hit code leaves the hit type out and keeps the file', () => {
  const answer = readFile('equifax', equifaxAnswer(score('00686'), hitCode('9')));
  expect(answer.file).toEqual({ source: 'EQUIFAX', scores: [{ number: 686, value: '686' }] });
  expect(answer.unknownCodes).toEqual([{ section: 'CreditFile/HitCode', code: '9' }]);
});

describe('dates and amounts', () => {
  const trade = (contents: string) =>
    readFile('equifax', equifaxAnswer(`<CNTrades><CNTrade>${contents}</CNTrade></CNTrades>`));

  test.each([
    ['2024-07', '2024-07-01', ['dateOpened']],
    ['2024-02-29', '2024-02-29', undefined],
    [' 20240731 ', '2024-07-31', undefined],
  ])(
    'the date "%s" is %s, and the file keeps whether the day is known',
    (text, dateOpened, names) => {
      const { trades } = trade(`<DateOpened>${text}</DateOpened>`).file;
      expect(trades).toEqual([{ dateOpened, ...(names && { datesWithoutDay: names }) }]);
    },
  );

  test.each([
    '2023-02-29',
    '2024-13',
    '2024-00',
    '0000-00',
    '24-07-31',
    '2024',
    '31/07/2024',
    'none',
  ])('the date "%s" is left out and counted without its text', (text) => {
    const { file, unknownCodes } = trade(`<DateOpened>${text}</DateOpened>`);
    expect(file.trades).toBeUndefined();
    expect(unknownCodes).toEqual([{ section: 'CNTrade/DateOpened', code: '(not a date)' }]);
  });

  test('a date without a day gets the day of the settings', () => {
    const body = equifaxAnswer(
      '<CNTrades><CNTrade><DateOpened>2024-07</DateOpened></CNTrade></CNTrades>',
    );
    const tables = readCodeTables().equifax;
    const options = { tables, partialDateDay: 15, reportRule: 'FIRST' as const };
    expect(readEquifaxAnswer(parseXml(body), options, INQUIRY)).toMatchObject({
      file: { trades: [{ dateOpened: '2024-07-15' }] },
    });
  });

  test.each([
    ['0000686', 686],
    ['-00012', -12],
    ['000', 0],
    ['-0', 0],
  ])('the amount "%s" is %d', (text, amount) => {
    expect(trade(`<BalanceAmount>${text}</BalanceAmount>`).file.trades).toEqual([
      { balanceAmount: amount },
    ]);
  });

  test.each(['12.50', '1,000', '$5', '1e3', '0x10', 'N/A', '9'.repeat(16), '१२'])(
    'the amount "%s" is left out and counted without its text',
    (text) => {
      const { file, unknownCodes } = trade(`<BalanceAmount>${text}</BalanceAmount>`);
      expect(file.trades).toBeUndefined();
      expect(unknownCodes).toEqual([{ section: 'CNTrade/BalanceAmount', code: '(not an amount)' }]);
    },
  );
});

test.each([
  ['046454286', '046454286'],
  ['046-454-286', '046454286'],
  ['000000000', undefined],
  ['04645428', undefined],
])('the SIN "%s" is %s', (text, sin) => {
  const id = `<SubjectId><SocialInsuranceNumber>${text}</SocialInsuranceNumber></SubjectId>`;
  const subject = `${hitCode('1')}</CreditFile><Subject>${id}</Subject><CreditFile>`;
  expect(readFile('equifax', equifaxAnswer('', subject)).file.subject?.sin).toBe(sin);
});

test('the current address and employment come first, whatever their place in the report', () => {
  const address = (code: string, city: string) =>
    `<CNAddress code="${code}"><City>${city}</City></CNAddress>`;
  const employment = (code: string, employer: string) =>
    `<CNEmployment code="${code}"><Employer>${employer}</Employer></CNEmployment>`;
  const addresses = [address('XX', 'Alma'), address('F2', 'Laval'), address('FA', 'Hull')];
  const employments = [employment('E2', 'Mill'), employment('EF', 'Farm')];
  const { file } = readFile(
    'equifax',
    equifaxAnswer(
      `<CNAddresses>${addresses.join('')}${address('CA', 'Gatineau')}</CNAddresses>` +
        `<CNEmployments>${employments.join('')}${employment('ES', 'Bakery')}</CNEmployments>`,
    ),
  );
  const { addressHistory, employmentHistory } = file.subject ?? {};
  expect(addressHistory?.map(({ city }) => city)).toEqual(['Gatineau', 'Hull', 'Laval', 'Alma']);
  expect(employmentHistory?.map((it) => it.employerName)).toEqual(['Bakery', 'Farm', 'Mill']);
});

test('elements whose names are not confirmed are read at the paths that an operator gives', () => {
  const { equifax: tables } = readCodeTables(`equifax:
    elements:
      specialService: Services/Service
      specialServiceDate: Reported
      specialServiceNumber: Member/Number
      specialServiceName: Member/Name
      specialServiceTelephone: Phone
      employmentStart: From
      employmentEnd: Dates/Until
      employmentCity: Place/City
      employmentProvince: Place/Province
      employmentIncome: Income`);
  const sections = `<CNEmployments><CNEmployment code="ES"><Employer>Bakery</Employer><From>2019-05</From>
    <Dates><Until>2021-06</Until></Dates><Place><City>Laval</City><Province code="QC"/></Place>
    <Income>04500</Income></CNEmployment></CNEmployments>
    <Services><Service><Reported>2020-02</Reported><Member><Number>481ZZ00001</Number><Name>A member</Name></Member>
    <Phone><AreaCode>800</AreaCode><Number>5550199</Number></Phone></Service></Services>`;
  const options = { tables, partialDateDay: 1, reportRule: 'FIRST' as const };
  const body = equifaxAnswer(sections);
  expect(readEquifaxAnswer(parseXml(body), options, INQUIRY)).toMatchObject({
    file: {
      subject: {
        employmentHistory: [
          {
            ...{ employerName: 'Bakery', dateEmployed: '2019-05-01', dateLeft: '2021-06-01' },
            ...{ city: 'Laval', province: 'QC', monthlyIncome: 4500 },
          },
        ],
      },
      specialServices: [
        {
          dateReported: '2020-02-01',
          customer: { id: '481ZZ00001', name: 'A member', phoneNumber: '800-555-0199' },
        },
      ],
    },
    unknownCodes: [],
  });
});

describe('warnings', () => {
  const message = (code: string, description: string) =>
    `<Message code="${code}" description="${description}" priority="1"/>`;
  const warningsOf = (messages: string, data = '') => {
    const sections = `<CNFraudWarnings><CNFraudWarning productId="S"><Messages>${messages}</Messages></CNFraudWarning></CNFraudWarnings>`;
    const warned = `${hitCode('1')}<DataWarningMessages>${data}</DataWarningMessages>`;
    return readFile('equifax', equifaxAnswer(sections, warned)).file.warnings;
  };

  test('of fraud and of the data come with code, words and source', () => {
    const data = '<DataWarningMessage code="4" description="CAUTION - INVALID BIRTHDATE/AGE"/>';
    expect(warningsOf(message('1', 'POSSIBLE TRUE NAME FRAUD'), data)).toEqual([
      { code: '1', text: 'POSSIBLE TRUE NAME FRAUD', source: 'FRAUD' },
      { code: '4', text: 'CAUTION - INVALID BIRTHDATE/AGE', source: 'DATA' },
    ]);
  });

  test.each([
    ['0', 'NO FRAUD INDICATION WAS DETECTED', undefined],
    ['0', '', undefined],
    ['', '', undefined],
    ['0', 'DECEASED', [{ code: '0', text: 'DECEASED', source: 'FRAUD' }]],
    ['9', '', [{ code: '9', source: 'FRAUD' }]],
  ])('with code "%s" and words "%s" are %o', (code, description, warnings) => {
    expect(warningsOf(message(code, description))).toEqual(warnings);
  });
});

test('the strength of a hit is kept in words, and a code without words is left out and counted', () => {
  const strength = (attributes: string) => {
    const body = equifaxAnswer('', `${hitCode('1')}<HitStrengthIndicator ${attributes}/>`);
    const { file, unknownCodes } = readFile('equifax', body);
    return [file.hitStrength, unknownCodes];
  };
  expect(strength('code="11" description="Regular hit"')).toEqual(['Regular hit', []]);
  const counted = { section: 'CreditFile/HitStrengthIndicator', code: '11' };
  expect(strength('code="11"')).toEqual([undefined, [counted]]);
});

test('the reasons why a file is not scored come with their words', () => {
  const rejected = '<RejectCode code="I" description="Insufficient data"/><RejectCode code="R"/>';
  const body = equifaxAnswer(
    `<CNScores><CNScore><RejectCodes>${rejected}</RejectCodes><Reasons><Reason code="00014"/></Reasons></CNScore></CNScores>`,
  );
  expect(readFile('equifax', body).file.scores).toEqual([
    {
      reasons: ['factor 14'],
      rejectCodes: ['I', 'R'],
      rejectReasons: [{ code: 'I', text: 'Insufficient data' }, { code: 'R' }],
    },
  ]);
});

test.each([
  ['<AreaCode>514</AreaCode><Number>257-4000</Number>', '514-257-4000'],
  ['<AreaCode>514</AreaCode><Number>2574000</Number>', '514-257-4000'],
  [
    '<AreaCode>514</AreaCode><Number>257-4000</Number><Extension>7486</Extension>',
    '514-257-4000 ext. 7486',
  ],
  ['<Number>257-4000</Number>', '257-4000'],
  ['<Extension>7486</Extension>', 'ext. 7486'],
])('the telephone %s is "%s"', (telephone, phoneNumber) => {
  const creditor = `<CreditorId><Telephone><ParsedTelephone>${telephone}</ParsedTelephone></Telephone></CreditorId>`;
  const body = equifaxAnswer(`<CNTrades><CNTrade>${creditor}</CNTrade></CNTrades>`);
  expect(readFile('equifax', body).file.trades).toEqual([{ creditor: { phoneNumber } }]);
});
