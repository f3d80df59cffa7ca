import { describe, expect, test } from 'vitest';
import { readCodeTables } from '../answer/code-tables.ts';
import { parseXml } from '../answer/xml-document.ts';
import {
  INQUIRY,
  inquiryAbout,
  readAnswer,
  readFile,
  TEMPLATE,
  TRANSUNION_OPTIONS,
  transUnionAnswer,
} from '../test-formats.ts';
import { escapeXml } from '../xml-text.ts';
import { readTransUnionAnswer } from './answer.ts';
import { transUnionFormat } from './transunion-format.ts';

const trade = (contents: string) =>
  readFile('transunion', transUnionAnswer(`<Trades><Trade>${contents}</Trade></Trades>`));

test.each([
  ['MOP', '06'],
  ['MOP', '1'],
  ['Joint', 'C'],
  ['Type', 'X'],
  ['Frequency', 'W'],
])('%s %s of a trade is left out and counted', (name, code) => {
  const { file, unknownCodes } = trade(`<${name}>${code}</${name}>`);
  expect(file.trades).toBeUndefined();
  expect(unknownCodes).toEqual([{ section: `Trade/${name}`, code }]);
});

test.each([
  ['Y', 'HIT'],
  ['N', 'NO_HIT'],
])('hit %s gives %s', (hit, hitType) => {
  const body = transUnionAnswer('').replace('>Y<', `>${hit}<`);
  expect(readFile('transunion', body).file.hitType).toBe(hitType);
});

describe('a report about a person', () => {
  const body = (lastName: string, reference = '') =>
    transUnionAnswer(
      `<Names><Name NameType="Primary"><LastName>${lastName}</LastName><FirstName>ZOE</FirstName></Name></Names>
       <PersonalInformation><SIN>000000000</SIN><DOB>19760229</DOB></PersonalInformation>`,
    ).replace('<TU_FFR_Report>', `<UserReference>${reference}</UserReference><TU_FFR_Report>`);

  test('is the file of the person of the inquiry, and foreign about any other', () => {
    expect(readFile('transunion', body('ONEIL SONS')).match).toEqual({ kind: 'FULL' });
    const other = body('ROY').replace('>ZOE<', '>ANN<');
    expect(readAnswer('transunion', other)).toEqual({ kind: 'foreign' });
  });

  test.each([
    ['with the reference', `${TEMPLATE}<!-- {{ reference }} -->`, 'foreign'],
    ['without a reference', TEMPLATE, 'file'],
  ])('with another reference, after a request %s, is %s', (_what, requestTemplate, kind) => {
    const { readRoot } = transUnionFormat({ ...TRANSUNION_OPTIONS, requestTemplate });
    expect(readRoot(parseXml(body('ONEIL SONS', 'b2')), INQUIRY).kind).toBe(kind);
    expect(readRoot(parseXml(body('ONEIL SONS', INQUIRY.reference)), INQUIRY).kind).toBe('file');
  });
});

test('names in any order give the own name and the others', () => {
  const names = [
    '<Name NameType="Also known as"><LastName>A</LastName></Name>',
    '<Name NameType="Primary "><LastName>B</LastName></Name>',
  ];
  for (const order of [names, names.toReversed()]) {
    const { file, unknownCodes } = readFile(
      'transunion',
      transUnionAnswer(`<Names>${order.join('')}</Names>`),
      inquiryAbout({ subject: { lastName: 'B' } }),
    );
    expect(file.subject).toEqual({
      lastName: 'B',
      otherNames: [{ type: 'ALSO_KNOWN_AS', lastName: 'A' }],
    });
    expect(unknownCodes).toEqual([]);
  }
});

test('a name of an unknown type before the primary one is another name, and is counted', () => {
  const names =
    '<Name NameType="Birth"><LastName>A</LastName></Name><Name NameType="Primary"><LastName>B</LastName></Name>';
  const { file, unknownCodes } = readFile(
    'transunion',
    transUnionAnswer(`<Names>${names}</Names>`),
    inquiryAbout({ subject: { lastName: 'B' } }),
  );
  expect(file.subject).toEqual({ lastName: 'B', otherNames: [{ lastName: 'A' }] });
  expect(unknownCodes).toEqual([{ section: 'Name/@NameType', code: 'Birth' }]);
});

test.each([
  ['12-340 PORTAGE AVE', { streetNo: '12-340', streetName: 'PORTAGE AVE' }],
  ['1200A  RUE ST-DENIS', { streetNo: '1200A', streetName: 'RUE ST-DENIS' }],
  ['RR 3', { streetName: 'RR 3' }],
  ['1ST AVENUE', { streetName: '1ST AVENUE' }],
  ['2nd St', { streetName: '2nd St' }],
  ['23RD ST', { streetName: '23RD ST' }],
  ['10TH LINE RD', { streetName: '10TH LINE RD' }],
  ['1RE AVENUE', { streetName: '1RE AVENUE' }],
  ['1ER RANG', { streetName: '1ER RANG' }],
  ['2IEME RUE', { streetName: '2IEME RUE' }],
  ['2ième Rue', { streetName: '2ième Rue' }],
  ['12 1ST AVENUE', { streetNo: '12', streetName: '1ST AVENUE' }],
  ['12E RUE CLARK', { streetNo: '12E', streetName: 'RUE CLARK' }],
  ['1200', { streetName: '1200' }],
])('the street "%s" gives %o', (street, fields) => {
  const address = `<Addresses><Address><Street>${street}</Street></Address></Addresses>`;
  expect(readFile('transunion', transUnionAnswer(address)).file.subject?.addressHistory).toEqual([
    fields,
  ]);
});

describe('an answer without a report', () => {
  const error = (code: string) =>
    `<REL4Report><Errors><Error><Code>${code}</Code><Description>WORDS</Description></Error></Errors></REL4Report>`;

  test('is a refusal with the code of the error', () => {
    const refusal = { kind: 'refused', reason: 'rejected', code: 'X1', errors: [{ code: 'X1' }] };
    expect(readAnswer('transunion', error('X1'))).toEqual(refusal);
  });

  test('is a refusal for the reason that an operator has given the code', () => {
    const tables = readCodeTables('transunion: { error: { X1: credentials } }').transUnion;
    const options = { ...TRANSUNION_OPTIONS, tables };
    const answer = readTransUnionAnswer(parseXml(error('X1')), options, INQUIRY);
    expect(answer).toMatchObject({ kind: 'refused', reason: 'credentials' });
  });

  test('is a refusal with the code of the element that an operator names', () => {
    const { transUnion: tables } = readCodeTables(
      'transunion: { elements: { errorCode: Number }, error: { X1: credentials } }',
    );
    const body = error('X1').replaceAll('Code>', 'ErrorNumber>');
    const answer = readTransUnionAnswer(parseXml(body), { ...TRANSUNION_OPTIONS, tables }, INQUIRY);
    expect(answer).toMatchObject({ reason: 'credentials', code: 'X1' });
  });

  test('but with an empty one is a refusal, too', () => {
    const body = error('X1').replace('</REL4Report>', '<TU_FFR_Report/></REL4Report>');
    expect(readAnswer('transunion', body)).toMatchObject({ kind: 'refused', code: 'X1' });
  });

  test('but with one that has no hit and no contents is a refusal, too', () => {
    const report =
      '<TU_FFR_Report><Hit>N</Hit><OnFileDate>00000000</OnFileDate><Trades/></TU_FFR_Report>';
    const body = error('X1').replace('</REL4Report>', `${report}</REL4Report>`);
    expect(readAnswer('transunion', body)).toMatchObject({ kind: 'refused', code: 'X1' });
  });

  test.each([
    ['nor error', '<REL4Report><Errors/></REL4Report>'],
    ['nor anything of the format', '<html/>'],
    ['but with one of the other bureau', '<EfxTransmit/>'],
  ])('%s is malformed', (_name, body) => {
    expect(readAnswer('transunion', body)).toMatchObject({ kind: 'malformed' });
  });
});

test('a report in a SOAP envelope, as XML or as text, gives the same file', () => {
  const root = transUnionAnswer('<PersonalInformation><DOB>19760229</DOB></PersonalInformation>');
  const inEnvelope = (contents: string) =>
    `<s:Envelope xmlns:s="x"><s:Body><ProcessRequestXMLResponse><ProcessRequestXMLResult>${contents}</ProcessRequestXMLResult></ProcessRequestXMLResponse></s:Body></s:Envelope>`;
  const contents = [root, root.replace(/<\/?REL4Report>/g, ''), escapeXml(root)];
  const file = readFile('transunion', root);
  expect(contents.map((it) => readFile('transunion', inEnvelope(it)))).toEqual([file, file, file]);
});

test.each(['<b>', '<REL4Report><TU_FFR_Report><Hit>N</Hit></TU_FFR_Report></REL4Report>'])(
  'a text "%s" inside a report is a text',
  (text) => {
    const sections = `<Trades><Trade><MemberName>${escapeXml(text)}</MemberName></Trade></Trades>`;
    const root = transUnionAnswer(sections).replace(/<\/?REL4Report>/g, '');
    const { file } = readFile(
      'transunion',
      `<r><ProcessRequestXMLResult>${root}</ProcessRequestXMLResult></r>`,
    );
    expect(file).toMatchObject({ hitType: 'HIT', trades: [{ creditor: { name: text } }] });
  },
);

test('an error beside a report without a hit that has contents is counted', () => {
  const errors = '<Errors><Error><Code>W1</Code></Error></Errors><TU_FFR_Report>';
  const body = transUnionAnswer('<Names><Name><LastName>A</LastName></Name></Names>')
    .replace('<TU_FFR_Report>', errors)
    .replace('>Y<', '>N<');
  const inquiry = inquiryAbout({ subject: { lastName: 'A' } });
  const { file, unknownCodes } = readFile('transunion', body, inquiry);
  expect(file).toMatchObject({ hitType: 'NO_HIT', subject: { lastName: 'A' } });
  expect(unknownCodes).toEqual([{ section: 'REL4Report/Errors', code: 'W1' }]);
});

test('an error beside a report is counted', () => {
  const body = transUnionAnswer('').replace(
    '<TU_FFR_Report>',
    '<Errors><Error><Code>W1</Code></Error></Errors><TU_FFR_Report>',
  );
  const { file, unknownCodes } = readFile('transunion', body);
  expect(file.hitType).toBe('HIT');
  expect(unknownCodes).toEqual([{ section: 'REL4Report/Errors', code: 'W1' }]);
});

test.each([
  ['<DatePaidOut>20240131</DatePaidOut>', { type: 'PAID', datePaid: '2024-01-31' }, 0],
  [
    '<DatePaidOut>00000000</DatePaidOut><CurrentBalance>120</CurrentBalance>',
    { type: 'UNPAID', balanceAmount: 120 },
    0,
  ],
  [
    '<DatePaidOut>0</DatePaidOut><CurrentBalance>0</CurrentBalance>',
    { type: undefined, balanceAmount: 0 },
    0,
  ],
  ['<DatePaidOut>00000000</DatePaidOut><Account>1</Account>', { agencyAccountNumber: '1' }, 0],
  ['<CurrentBalance>-5</CurrentBalance>', { type: undefined, balanceAmount: -5 }, 0],
  [
    '<DatePaidOut>yes</DatePaidOut><CurrentBalance>120</CurrentBalance>',
    { type: 'PAID', balanceAmount: 120 },
    1,
  ],
])('a collection with %s gives %o, with %i unknown codes', (contents, fields, unknown) => {
  const body = `<Collections><Collection>${contents}</Collection></Collections>`;
  const { file, unknownCodes } = readFile('transunion', transUnionAnswer(body));
  expect(file.collections).toEqual([fields]);
  expect(unknownCodes).toHaveLength(unknown);
});

describe('a payment pattern', () => {
  const pattern = (signs: string, start = '20261031') =>
    `<PaymentPatternStartDate>${start}</PaymentPatternStartDate><PaymentPattern>${signs}</PaymentPattern>`;
  const months = [
    { month: '2026-02', rate: 'PAID_AS_AGREED_AND_UP_TO_DATE' },
    { month: '2026-01' },
    { month: '2025-12', rate: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE' },
  ];

  test('gives the months from its start date back, those that are not rated without a rate', () => {
    const { file, unknownCodes } = trade(pattern('1X2', '20260215'));
    expect(file.trades).toEqual([{ paymentProfile: months }]);
    expect(unknownCodes).toEqual([]);
  });

  test('that begins with the oldest month gives the same months, where the settings say so', () => {
    const body = transUnionAnswer(`<Trades><Trade>${pattern('2X1', '20251201')}</Trade></Trades>`);
    const options = { ...TRANSUNION_OPTIONS, paymentPattern: 'OLDEST_FIRST' as const };
    expect(readTransUnionAnswer(parseXml(body), options, INQUIRY)).toMatchObject({
      file: { trades: [{ paymentProfile: months }] },
    });
  });

  test('of more than 24 months gives the newest 24, and the rest is counted', () => {
    const { file, unknownCodes } = trade(pattern('1'.repeat(30)));
    const profile = file.trades?.[0]?.paymentProfile ?? [];
    expect(profile.map(({ month }) => month)).toHaveLength(24);
    expect([profile[0]?.month, profile.at(-1)?.month]).toEqual(['2026-10', '2024-11']);
    expect(unknownCodes).toMatchObject([{ section: 'Trade/PaymentPattern' }]);
  });

  test.each([
    ['an unknown sign', pattern('1Q'), '0Q'],
    ['no start date', '<PaymentPattern>11</PaymentPattern>', '(no start date)'],
  ])('with %s is counted', (_what, contents, code) => {
    expect(trade(contents).unknownCodes).toEqual([{ section: 'Trade/PaymentPattern', code }]);
  });
});

test.each([
  ['0', '5000', 5000, ['AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT']],
  ['', '5000', 5000, ['AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT']],
  ['800', '5000', 800, undefined],
])('a high credit of "%s" beside a limit of %s gives %d %o', (high, limit, amount, narratives) => {
  const { file } = trade(`<HighCredit>${high}</HighCredit><CreditLimit>${limit}</CreditLimit>`);
  expect(file.trades).toEqual([
    { highCreditAmount: amount, creditLimitAmount: 5000, ...(narratives && { narratives }) },
  ]);
});

test('a high credit of 0 without a limit, or beside a limit of 0, is 0', () => {
  const zero = [{ highCreditAmount: 0 }];
  expect(trade('<HighCredit>0</HighCredit>').file.trades).toEqual(zero);
  expect(trade('<HighCredit>0</HighCredit><CreditLimit>0</CreditLimit>').file.trades).toEqual(zero);
});

describe('score products', () => {
  const scores = (products: string, options = TRANSUNION_OPTIONS) =>
    readTransUnionAnswer(
      parseXml(transUnionAnswer(`<ScoreProducts>${products}</ScoreProducts>`)),
      options,
      INQUIRY,
    );
  const product = (contents: string) =>
    `<ScoreProduct><Product>02</Product>${contents}</ScoreProduct>`;

  test.each(['', '<Score/>', '<Score>000</Score>', '<Factor1>40</Factor1>'])(
    'with "%s" are no scores',
    (contents) => {
      expect(scores(product(contents))).toMatchObject({ file: { hitType: 'HIT' } });
      expect(scores(product(contents))).not.toHaveProperty('file.scores');
    },
  );

  const scored = product('<Score>712</Score><Factor1>040</Factor1><Factor2>00</Factor2>');

  test('have their factors in words, and those of the operator’s list where there is one', () => {
    expect(scores(scored)).toMatchObject({ file: { scores: [{ reasons: ['factor 40'] }] } });
    const { transUnion: tables } = readCodeTables(
      'transunion: { factors: { "040": Too many accounts } }',
    );
    expect(scores(scored, { ...TRANSUNION_OPTIONS, tables })).toMatchObject({
      file: { scores: [{ reasons: ['Too many accounts'] }] },
    });
  });

  test('with an alert, whose meaning is not known, count it', () => {
    const alert = product('<Score>712</Score><ScoreDerogatoryAlert>Y</ScoreDerogatoryAlert>');
    expect(scores(alert)).toMatchObject({
      unknownCodes: [{ section: 'ScoreProduct/ScoreDerogatoryAlert', code: 'Y' }],
    });
  });
});

test.each([
  ['<Message>ON FILE</Message>', [{ text: 'ON FILE', source: 'MESSAGE' }]],
  ['<Message code="M1"/>', [{ code: 'M1', source: 'MESSAGE' }]],
  [
    '<Message><Code>M1</Code><Text>ON FILE</Text></Message>',
    [{ text: 'M1 ON FILE', source: 'MESSAGE' }],
  ],
  ['<Message/>', undefined],
])('the message %s is the warning %o', (message, warnings) => {
  const { file } = readFile('transunion', transUnionAnswer(`<Messages>${message}</Messages>`));
  expect(file.warnings).toEqual(warnings);
});
