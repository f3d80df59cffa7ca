import { describe, expect, test } from 'vitest';
import { equifaxAnswer, readFile } from '../test-formats.ts';

/** The first item of a section that has one item. */
function itemOf(sections: string, path: string): unknown {
  const { file } = readFile('equifax', equifaxAnswer(sections));
  return path
    .split('.')
    .reduce((at: unknown, name) => (at as Record<string, unknown>)?.[name], file);
}

const coded = (name: string, code: string, description = '') =>
  `<${name} code="${code}" description="${description}"/>`;
const trade = (contents: string) => `<CNTrades><CNTrade>${contents}</CNTrade></CNTrades>`;
const bankruptcy = (contents: string) =>
  `<CNBankruptciesOrActs><CNBankruptcyOrAct>${contents}</CNBankruptcyOrAct></CNBankruptciesOrActs>`;
const collection = (contents: string) =>
  `<CNCollections><CNCollection>${contents}</CNCollection></CNCollections>`;
const legalItem = (contents: string) =>
  `<CNLegalItems><CNLegalItem>${contents}</CNLegalItem></CNLegalItems>`;
const narratives = (narrative: string) => `<Narratives>${narrative}</Narratives>`;

test.each([
  ['0', 'NO_CREDIT_FILE_REQUESTED'],
  ['1', 'HIT'],
  ['2', 'NO_HIT'],
  ['3', 'MANUAL_FILE'],
  ['4', 'CONSUMER_DECLARATION'],
  ['5', 'REFERRED_FILE'],
  ['6', 'CONTACT_BUREAU_COLLECTION_DEPARTMENT'],
  ['7', 'CREDIT_LOCK'],
])('hit code %s gives %s', (code, hitType) => {
  const { file } = readFile('equifax', equifaxAnswer('', coded('HitCode', code)));
  expect(file.hitType).toBe(hitType);
});

test.each([
  ['0', { paymentRate: 'TOO_NEW_TO_RATE' }],
  ['1', { paymentRate: 'PAID_AS_AGREED_AND_UP_TO_DATE' }],
  ['2', { paymentRate: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE' }],
  ['3', { paymentRate: 'NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE' }],
  ['4', { paymentRate: 'THREE_OR_MORE_PAYMENTS_PAST_DUE' }],
  ['5', { paymentRate: 'AT_LEAST_120_DAYS_OVERDUE_BUT_NOT_RATED_9' }],
  ['7', { paymentRate: 'MAKING_REGULAR_PAYMENTS_UNDER_CONSOLIDATION_ORDER' }],
  ['8', { paymentRate: 'REPOSSESSION' }],
  ['9', { paymentRate: 'BAD_DEBT_PLACED_FOR_COLLECTION' }],
  ['A', { status: 'ACCOUNT_IS_INACTIVE' }],
  ['B', { status: 'LOST_OR_STOLEN_CARD' }],
  ['C', { status: 'CONTACT_MEMBER_FOR_RATE' }],
  ['J', { status: 'ADJUSTMENT_PENDING' }],
  ['S', { status: 'DISPUTE_RESOLUTION_PENDING' }],
])('payment rate " %s" gives %o', (code, fields) => {
  expect(itemOf(trade(coded('PaymentRate', ` ${code}`)), 'trades.0')).toEqual(fields);
});

test.each([
  ['PortfolioType', 'R', { portfolioType: 'REVOLVING_OR_OPTION' }],
  ['PortfolioType', 'I', { portfolioType: 'INSTALMENT' }],
  ['PortfolioType', 'O', { portfolioType: 'OPEN_ACCOUNT' }],
  ['PortfolioType', 'C', { portfolioType: 'LINE_OF_CREDIT' }],
  ['PortfolioType', 'M', { portfolioType: 'MORTGAGE' }],
  ['Association', 'I', { association: 'INDIVIDUAL' }],
  ['Association', 'J', { association: 'JOINT' }],
  ['Association', 'U', { association: 'UNDESIGNATED' }],
  ['Association', 'T', { association: 'TERMINATED' }],
])('%s %s of a trade gives %o', (name, code, fields) => {
  expect(itemOf(trade(coded(name, code)), 'trades.0')).toEqual(fields);
});

test.each([
  ['AK', 'INCLUDED_IN_BANKRUPTCY'],
  ['AO', 'AUTO_LOAN'],
  ['AW', 'SECURED_LOAN'],
  ['AZ', 'AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT'],
  ['BB', 'SUBJECT_DISPUTES_THIS_ACCOUNT'],
  ['BI', 'SETTLEMENT_MADE'],
  ['CX', 'ACCOUNT_PAID'],
  ['EX', 'MONTHLY_PAYMENTS'],
  ['EY', 'BI_WEEKLY_PAYMENTS'],
  ['FV', 'DEFERRED_PAYMENT'],
])('narrative %s of a trade gives %s', (code, narrative) => {
  expect(itemOf(trade(narratives(coded('Narrative', code))), 'trades.0.narratives')).toEqual([
    narrative,
  ]);
});

test.each([
  [bankruptcy(coded('Type', 'I')), 'bankruptcies.0.type', 'INDIVIDUAL'],
  [bankruptcy(coded('Type', 'B')), 'bankruptcies.0.type', 'BUSINESS'],
  [bankruptcy(coded('Filer', 'S')), 'bankruptcies.0.filer', 'SUBJECT'],
  [bankruptcy(coded('Filer', 'J')), 'bankruptcies.0.filer', 'JOINT'],
  [bankruptcy(coded('IntentOrDisposition', 'A')), 'bankruptcies.0.disposition.type', 'DISCHARGED'],
  [
    bankruptcy(coded('IntentOrDisposition', 'B')),
    'bankruptcies.0.disposition.type',
    'UNDISCHARGED',
  ],
  [
    bankruptcy(narratives(coded('Narrative', 'CE'))),
    'bankruptcies.0.narratives.0',
    'DISPOSITION_UNKNOWN',
  ],
  ['<CNCollections><CNCollection code="PC"/></CNCollections>', 'collections.0.type', 'PAID'],
  ['<CNCollections><CNCollection code="UC"/></CNCollections>', 'collections.0.type', 'UNPAID'],
  [collection(coded('Reason', 'U')), 'collections.0.reason', 'UNKNOWN'],
  [collection(coded('Reason', 'C')), 'collections.0.reason', 'CHECKED'],
  [collection(coded('Reason', 'O')), 'collections.0.reason', 'OTHER'],
  [collection(coded('Reason', 'P')), 'collections.0.reason', 'PAID'],
  [collection(coded('Reason', 'S')), 'collections.0.reason', 'SETTLED'],
  [
    '<CNLegalItems><CNLegalItem code="AJ"/></CNLegalItems>',
    'legalItems.0.type',
    'UNSETTLED_JUDGMENT',
  ],
  [
    '<CNLegalItems><CNLegalItem code="SJ"/></CNLegalItems>',
    'legalItems.0.type',
    'SATISFIED_JUDGMENT',
  ],
  [legalItem(coded('Status', 'S')), 'legalItems.0.status', 'SATISFIED'],
  [legalItem(coded('Status', 'D')), 'legalItems.0.status', 'DISMISSED'],
  [
    '<CNOtherNames><CNOtherName code="AK"/></CNOtherNames>',
    'subject.otherNames.0.type',
    'ALSO_KNOWN_AS',
  ],
  [
    `<CNSecuredLoans><CNSecuredLoan>${narratives(coded('Narrative', 'GB'))}</CNSecuredLoan></CNSecuredLoans>`,
    'securedLoans.0.narratives.0',
    'SECURITY_DISPOSITION_UNKNOWN',
  ],
])('%s gives %s %s', (sections, path, value) => {
  expect(itemOf(sections, path)).toBe(value);
});

describe('a code that is in no table', () => {
  const narrative = (description: string) =>
    readFile('equifax', equifaxAnswer(trade(narratives(coded('Narrative', 'QQ', description)))));

  test.each([
    ['Auto', 'AUTO_LOAN'],
    ['Secured', 'SECURED_LOAN'],
    ['Deferred payment plan', 'DEFERRED_PAYMENT'],
    ['Amount in h/c column is credit limit', 'AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT'],
    [
      'Account assigned to 3rd party for collection',
      'ACCOUNT_ASSIGNED_TO_THIRD_PARTY_FOR_COLLECTION',
    ],
    ['Closed at consumer’s request', 'CLOSED_AT_CONSUMERS_REQUEST'],
    ["  INCLUDED in co-applicant's Bankruptcy ", 'INCLUDED_IN_CO_APPLICANTS_BANKRUPTCY'],
  ])('is read by its description "%s"', (description, value) => {
    const { file, unknownCodes } = narrative(description);
    expect(file.trades).toEqual([{ narratives: [value] }]);
    expect(unknownCodes).toEqual([]);
  });

  test.each(['Paiements mensuels', 'Monthly payment', ''])(
    'is left out and counted with the description "%s"',
    (description) => {
      const { file, unknownCodes } = narrative(description);
      expect(file.trades).toBeUndefined();
      expect(unknownCodes).toEqual([{ section: 'CNTrade/Narratives/Narrative', code: 'QQ' }]);
    },
  );
});

test('a description without a code that nobody knows is counted without its text', () => {
  const answer = readFile('equifax', equifaxAnswer(trade(coded('PaymentRate', '', 'Jane Roe'))));
  expect(answer.unknownCodes).toEqual([{ section: 'CNTrade/PaymentRate', code: '(none)' }]);
});

test.each(['JANE A ROE, OTTAWA', '046454286', '046 454 286', '416-555-0101', 'Zoë'])(
  'a code "%s" that may be personal data is counted without its text',
  (code) => {
    const answer = readFile('equifax', equifaxAnswer(trade(coded('PaymentRate', code))));
    expect(answer.unknownCodes).toEqual([{ section: 'CNTrade/PaymentRate', code: '(not a code)' }]);
  },
);

test('a narrative of another section is left out and counted', () => {
  const answer = readFile(
    'equifax',
    equifaxAnswer(collection(narratives(coded('Narrative', 'EX')))),
  );
  expect(answer.file.collections).toBeUndefined();
  expect(answer.unknownCodes).toEqual([
    { section: 'CNCollection/Narratives/Narrative', code: 'EX' },
  ]);
});

test('a foreclosure keeps its other fields, and is counted, because the interface has no such type', () => {
  const { file, unknownCodes } = readFile(
    'equifax',
    equifaxAnswer(
      '<CNLegalItems><CNLegalItem code=" FO" description="Foreclosure"><CaseNumber>1</CaseNumber></CNLegalItem></CNLegalItems>',
    ),
  );
  expect(file.legalItems).toEqual([{ caseNumber: '1' }]);
  expect(unknownCodes).toEqual([{ section: 'CNLegalItem', code: 'FO' }]);
});

test('an empty code with an empty description is absent', () => {
  const answer = readFile(
    'equifax',
    equifaxAnswer(trade(`${coded('PaymentRate', ' ', ' ')}<AccountNumber>1</AccountNumber>`)),
  );
  expect(answer).toMatchObject({ file: { trades: [{ accountNumber: '1' }] }, unknownCodes: [] });
});

describe('a description that names another value than the table has for the code', () => {
  test.each([
    [legalItem(coded('Status', 'S', 'Settled')), 'legalItems', [{ status: 'SETTLED' }]],
    [legalItem(coded('Status', 'D', 'Satisfied')), 'legalItems', [{ status: 'SATISFIED' }]],
    [collection(coded('Reason', 'S', 'Other')), 'collections', [{ reason: 'OTHER' }]],
    [
      trade(coded('PortfolioType', 'R', 'Line of credit')),
      'trades',
      [{ portfolioType: 'LINE_OF_CREDIT' }],
    ],
  ])('%s overrules the code, and is counted', (sections, section, value) => {
    const { file, unknownCodes } = readFile('equifax', equifaxAnswer(sections));
    expect(file).toMatchObject({ [section]: value });
    expect(unknownCodes).toMatchObject([
      { code: expect.stringMatching(/^\w+ \(described otherwise\)$/) },
    ]);
  });

  test.each(['One payment past due', 'Deux paiements en retard', ''])(
    'is needed: with the description "%s" the code stands, and nothing is counted',
    (description) => {
      const { file, unknownCodes } = readFile(
        'equifax',
        equifaxAnswer(trade(coded('PaymentRate', '2', description))),
      );
      expect(file.trades).toEqual([{ paymentRate: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE' }]);
      expect(unknownCodes).toEqual([]);
    },
  );
});
