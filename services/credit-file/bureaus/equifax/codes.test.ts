import { describe, expect, test } from 'vitest';
import { equifaxAnswer, readFile } from '../test-formats.ts';

const coded = (name: string, code: string, description = '') =>
  `<${name} code="${code}" description="${description}"/>`;
const trade = (contents: string) => `<CNTrades><CNTrade>${contents}</CNTrade></CNTrades>`;
const collection = (contents: string) =>
  `<CNCollections><CNCollection>${contents}</CNCollection></CNCollections>`;
const legalItem = (contents: string) =>
  `<CNLegalItems><CNLegalItem>${contents}</CNLegalItem></CNLegalItems>`;
const narratives = (narrative: string) => `<Narratives>${narrative}</Narratives>`;

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
