// What is known of the answers of TransUnion Canada.
import {
  type FormatPart,
  type FormatRow,
  type Known,
  nest,
  rowsOf,
  type Section,
} from './format-row.ts';

const PERSON =
  '<Names><Name NameType="Primary "><LastName>ONEIL SONS</LastName><FirstName>ZOE</FirstName></Name></Names>' +
  '<PersonalInformation><SIN>000000000</SIN><DOB>19760229</DOB></PersonalInformation>';
const REPORT =
  '<UserReference/><MemberCode>1234FA00001</MemberCode><Date>20261122</Date><Time>093000</Time><Product>07000</Product><Errors/>';

const answerOf = (sections: string, { person = PERSON, hit = 'Y', report = REPORT } = {}) =>
  `<REL4Report>${report}<TU_FFR_Report><Hit>${hit}</Hit><OnFileDate>20010312</OnFileDate>${person}${sections}</TU_FFR_Report></REL4Report>`;
const withSections = (sections: string) => answerOf(sections);

const part = (title: string, ...sections: Section[]): FormatPart => ({
  title,
  rows: sections.flatMap((section) => rowsOf(section, withSections)),
});
const row = (
  wire: string,
  path: string,
  known: Known,
  answer: string,
  value: unknown,
  becomes = path,
): FormatRow => ({
  ...{ wire, becomes, known, path, value },
  answers: [answer],
});

const inSoap = (contents: string) =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><ProcessRequestXMLResponse><ProcessRequestXMLResult>${contents}</ProcessRequestXMLResult></ProcessRequestXMLResponse></s:Body></s:Envelope>`;
const WHOLE = answerOf('');

const HEADER: FormatPart = {
  title: 'Header and person',
  rows: [
    row('REL4Report as the root', 'hitType', 'read', WHOLE, 'HIT'),
    row(
      'SOAP 1.1, ProcessRequestXMLResult',
      'hitType',
      'read',
      inSoap(WHOLE.replace(/<\/?REL4Report>/g, '')),
      'HIT',
    ),
    row('Hit Y', 'hitType', 'read', WHOLE, 'HIT'),
    row('Hit N', 'hitType', 'concluded', answerOf('', { hit: 'N' }), 'NO_HIT'),
    row('MemberCode', 'customerNumber', 'read', WHOLE, '1234FA00001'),
    row('Date', 'requestedDate', 'read', WHOLE, '2026-11-22'),
    row('OnFileDate', 'fileSinceDate', 'read', WHOLE, '2001-03-12'),
    row('Names/Name @NameType "Primary "', 'subject.lastName', 'read', WHOLE, 'ONEIL SONS'),
    row('Names/Name/FirstName', 'subject.firstName', 'read', WHOLE, 'ZOE'),
    row(
      'Names/Name/MiddleName',
      'subject.middleName',
      'read',
      answerOf('', {
        person: PERSON.replace('</FirstName>', '</FirstName><MiddleName>M</MiddleName>'),
      }),
      'M',
    ),
    row('PersonalInformation/DOB', 'subject.dateOfBirth', 'read', WHOLE, '1976-02-29'),
    row(
      'PersonalInformation/SIN',
      'subject.sin',
      'read',
      answerOf('', { person: PERSON.replace('000000000', '046454286') }),
      '046454286',
    ),
    row('PersonalInformation/SIN 000000000', 'subject.sin', 'read', WHOLE, undefined, 'nothing'),
    row(
      'A report of another person',
      'kind',
      'read',
      WHOLE.replace('ZOE', 'ANN').replace('ONEIL SONS', 'ROY'),
      'foreign',
      'no file',
    ),
  ],
};

const ADDRESSES: Section = {
  entry: 'Addresses/Address',
  field: 'subject.addressHistory.0',
  elements: [
    ['Street', '340 PORTAGE AVE', 'streetNo', '340', 'read'],
    ['Street', '340 PORTAGE AVE', 'streetName', 'PORTAGE AVE', 'read'],
    ['City', 'WINNIPEG', 'city', 'WINNIPEG', 'read'],
    ['Prov', 'MB', 'province', 'MB', 'read'],
    ['Postal', 'R3C0C4', 'postalCode', 'R3C0C4', 'read'],
    ['DateReported', '20240110', 'dateReported', '2024-01-10', 'read'],
  ],
};
const COLLECTIONS: Section = {
  entry: 'Collections/Collection',
  field: 'collections.0',
  elements: [
    ['MemberName', 'CEDAR RECOVERY', 'agency.name', 'CEDAR RECOVERY', 'read'],
    ['Account', 'C-77', 'agencyAccountNumber', 'C-77', 'read'],
    ['Creditor', 'BELL', 'creditor.accountNumberAndOrName', 'BELL', 'read'],
    ['DateReported', '20230501', 'assignedDate', '2023-05-01', 'read'],
    ['DatePaidOut', '20240215', 'datePaid', '2024-02-15', 'read'],
    ['DatePaidOut', '20240215', 'type', 'PAID', 'read'],
    ['CurrentBalance', '95', 'balanceAmount', 95, 'read'],
    ['OriginalAmount', '320', 'originalAmount', 320, 'read'],
  ],
};
const INQUIRIES: Section = {
  entry: 'Inquiries/Inquiry',
  field: 'localInquiries.0',
  elements: [
    ['MemberCode', '1234AA00009', 'customer.id', '1234AA00009', 'read'],
    ['MemberName', 'DEALER FINANCE', 'customer.name', 'DEALER FINANCE', 'read'],
    ['Date', '20261120', 'date', '2026-11-20', 'read'],
  ],
};

/** Values are the text of an element: a code and its meaning. */
const text = (name: string, code: string, field: string, value: string, known: Known) =>
  [name, code, field, value, known] as const;
const RATES = [
  'TOO_NEW_TO_RATE',
  'PAID_AS_AGREED_AND_UP_TO_DATE',
  'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE',
  'NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE',
  'THREE_OR_MORE_PAYMENTS_PAST_DUE',
  'AT_LEAST_120_DAYS_OVERDUE_BUT_NOT_RATED_9',
  undefined,
  'MAKING_REGULAR_PAYMENTS_UNDER_CONSOLIDATION_ORDER',
  'REPOSSESSION',
  'BAD_DEBT_PLACED_FOR_COLLECTION',
];
const TRADES: Section = {
  entry: 'Trades/Trade',
  field: 'trades.0',
  elements: [
    ['MemberCode', '1234BB00022', 'creditor.id', '1234BB00022', 'read'],
    ['MemberName', 'HARBOUR CU', 'creditor.name', 'HARBOUR CU', 'read'],
    ['Account', '77', 'accountNumber', '77', 'read'],
    ['DateOpened', '20180402', 'dateOpened', '2018-04-02', 'read'],
    ['DateRevised', '20261031', 'dateReported', '2026-10-31', 'read'],
    ['DateLastActivity', '20261015', 'dateLastActivityOrPayment', '2026-10-15', 'read'],
    ['Balance', '1200', 'balanceAmount', 1200, 'read'],
    ['HighCredit', '8000', 'highCreditAmount', 8000, 'read'],
    ['CreditLimit', '5000', 'creditLimitAmount', 5000, 'seen'],
    ['Payment', '60', 'paymentTermAmount', 60, 'read'],
    ['PastDue', '60', 'pastDueAmount', 60, 'read'],
    ['MonthsReviewed', '3', 'monthsReviewed', 3, 'read'],
    ['Plus30', '1', 'count30DaysPastDue', 1, 'read'],
    ['Plus60', '0', 'count60DaysPastDue', 0, 'read'],
    ['Plus90', '0', 'count90DaysPastDue', 0, 'read'],
    text('Type', 'R', 'portfolioType', 'REVOLVING_OR_OPTION', 'read'),
    text('Type', 'I', 'portfolioType', 'INSTALMENT', 'read'),
    text('Type', 'O', 'portfolioType', 'OPEN_ACCOUNT', 'read'),
    text('Type', 'M', 'portfolioType', 'MORTGAGE', 'read'),
    text('Type', 'C', 'portfolioType', 'LINE_OF_CREDIT', 'concluded'),
    ...RATES.flatMap((value, rate) =>
      value === undefined ? [] : [text('MOP', `0${rate}`, 'paymentRate', value, 'concluded')],
    ),
    text('Joint', 'I', 'association', 'INDIVIDUAL', 'concluded'),
    text('Narrative1', 'HC', 'narratives.0', 'AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT', 'concluded'),
    text('Narrative2', 'PD', 'narratives.0', 'ACCOUNT_PAID', 'concluded'),
    text('Frequency', 'M', 'narratives.0', 'MONTHLY_PAYMENTS', 'concluded'),
    text('Frequency', 'B', 'narratives.0', 'BI_WEEKLY_PAYMENTS', 'concluded'),
  ],
};

const trade = (contents: string) => withSections(nest('Trades/Trade', contents));
const product = (contents: string) =>
  withSections(nest('ScoreProducts/ScoreProduct', `<Product>00002</Product>${contents}`));
const unknown = (name: string, code: string): FormatRow =>
  row(
    `Trade/${name} ${code}`,
    'counted.0',
    'seen',
    trade(`<${name}>${code}</${name}>`),
    `Trade/${name} ${code}`,
    'nothing, and counted',
  );
const LIMIT = '<HighCredit>0</HighCredit><CreditLimit>5000</CreditLimit>';

const RULES: FormatPart = {
  title: 'Rules',
  rows: [
    row(
      'HighCredit 0 beside CreditLimit 5000',
      'trades.0.highCreditAmount',
      'seen',
      trade(LIMIT),
      5000,
    ),
    row(
      'HighCredit 0 beside CreditLimit 5000, in words',
      'trades.0.narratives',
      'seen',
      trade(LIMIT),
      ['AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT'],
    ),
    row(
      'PaymentPatternStartDate, PaymentPattern',
      'trades.0.paymentProfile',
      'concluded',
      trade(
        '<PaymentPatternStartDate>20260201</PaymentPatternStartDate><PaymentPattern>X1</PaymentPattern>',
      ),
      [{ month: '2026-02' }, { month: '2026-01', rate: 'PAID_AS_AGREED_AND_UP_TO_DATE' }],
    ),
    row('ScoreProduct/Score', 'scores.0.number', 'read', product('<Score>712</Score>'), 712),
    row('ScoreProduct/Product', 'scores.0.narratives', 'read', product('<Score>712</Score>'), [
      '00002',
    ]),
    row(
      'ScoreProduct without a Score',
      'scores',
      'seen',
      product('<Factor1>40</Factor1>'),
      undefined,
      'no score',
    ),
    row(
      'ScoreProduct with Score 000',
      'scores',
      'seen',
      product('<Score>000</Score>'),
      undefined,
      'no score',
    ),
    row(
      'ScoreProduct/Factor1 to Factor4',
      'scores.0.reasons',
      'read',
      product('<Score>712</Score><Factor1>40</Factor1><Factor4>11</Factor4>'),
      ['factor 40', 'factor 11'],
    ),
    row(
      'ScoreProduct/Factor1 0',
      'scores.0.reasons',
      'read',
      product('<Score>712</Score><Factor1>0</Factor1>'),
      undefined,
      'no reason',
    ),
    row(
      'ScoreProduct/ScoreDerogatoryAlert',
      'counted.0',
      'seen',
      product('<Score>712</Score><ScoreDerogatoryAlert>Y</ScoreDerogatoryAlert>'),
      'ScoreProduct/ScoreDerogatoryAlert Y',
      'nothing, and counted',
    ),
    unknown('Narrative1', 'CL'),
    unknown('Narrative1', 'CZ'),
    unknown('Narrative2', 'AC'),
    unknown('Narrative2', 'FA'),
    unknown('Joint', 'C'),
    row(
      'Messages/Message',
      'warnings',
      'read',
      withSections('<Messages><Message>ON FILE</Message></Messages>'),
      [{ text: 'ON FILE', source: 'MESSAGE' }],
    ),
    ...[
      'ConsumerStatements',
      'Bankruptcies',
      'Legals',
      'RegisteredItems',
      'Employments',
      'Telephones',
      'Bankings',
      'CreditSummary',
      'CreditSummaryDetails',
      'MiscellaneousStatements',
      'IFSXMLAML',
    ].map((section) =>
      row(
        section,
        'alsoReported',
        'read',
        withSections(nest(`${section}/Entry`, '1')),
        [{ section, count: 1 }],
        'also reported, and counted',
      ),
    ),
  ],
};

export const TRANSUNION_ANSWERS: readonly FormatPart[] = [
  HEADER,
  part('Addresses, collections and inquiries', ADDRESSES, COLLECTIONS, INQUIRIES),
  part('Trades', TRADES),
  RULES,
];
