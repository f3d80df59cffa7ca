// What is known of the answers of Equifax Canada: trades and extended trades.
import { withSections } from './equifax-answer.ts';
import {
  type CodeTuple,
  type FormatPart,
  type FormatRow,
  type Known,
  nest,
  rowsOf,
} from './format-row.ts';

const TRADE = 'CNTrades/CNTrade';

const RATES: readonly [string, string, string, Known][] = [
  ['0', '', 'TOO_NEW_TO_RATE', 'read'],
  ['1', 'Paid as agreed and up to date', 'PAID_AS_AGREED_AND_UP_TO_DATE', 'seen'],
  ['2', 'One payment past due', 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE', 'seen'],
  ['3', 'Two payments past due', 'NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE', 'seen'],
  ['4', 'Three or more payments past due', 'THREE_OR_MORE_PAYMENTS_PAST_DUE', 'seen'],
  ['5', 'At least 120 days past due', 'AT_LEAST_120_DAYS_OVERDUE_BUT_NOT_RATED_9', 'seen'],
  ['7', '', 'MAKING_REGULAR_PAYMENTS_UNDER_CONSOLIDATION_ORDER', 'seen'],
  ['8', 'Showing a repossession', 'REPOSSESSION', 'seen'],
  ['9', '', 'BAD_DEBT_PLACED_FOR_COLLECTION', 'seen'],
];
const STATUSES: readonly [string, string][] = [
  ['A', 'ACCOUNT_IS_INACTIVE'],
  ['B', 'LOST_OR_STOLEN_CARD'],
  ['C', 'CONTACT_MEMBER_FOR_RATE'],
  ['J', 'ADJUSTMENT_PENDING'],
  ['S', 'DISPUTE_RESOLUTION_PENDING'],
];
const NARRATIVES: readonly [string, string, string][] = [
  ['AK', 'Included in bankruptcy', 'INCLUDED_IN_BANKRUPTCY'],
  ['AO', 'Auto', 'AUTO_LOAN'],
  ['AW', 'Secured', 'SECURED_LOAN'],
  ['AZ', 'Amount in h/c column is credit limit', 'AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT'],
  ['BB', 'Subject disputes this account', 'SUBJECT_DISPUTES_THIS_ACCOUNT'],
  ['BI', 'Settlement made', 'SETTLEMENT_MADE'],
  ['CX', 'Account paid', 'ACCOUNT_PAID'],
  ['EX', 'Monthly payments', 'MONTHLY_PAYMENTS'],
  ['EY', 'Bi-weekly payments', 'BI_WEEKLY_PAYMENTS'],
  ['FV', 'Deferred payment plan', 'DEFERRED_PAYMENT'],
];
const rate = (path: string, field: string, code: string): CodeTuple[] =>
  RATES.filter((it) => it[0] === code || code === '').map(([key, words, value, known]) => [
    ...([path, key, words, field, value, known] as const),
  ]);

const TRADES: FormatPart = {
  title: 'Trades',
  rows: rowsOf(
    {
      entry: TRADE,
      field: 'trades.0',
      elements: [
        ['DateReported', '2026-10', 'dateReported', '2026-10-01', 'seen'],
        ['CreditorId/CustomerNumber', '481ON00123', 'creditor.id', '481ON00123', 'seen'],
        ['CreditorId/Name', 'LAKEHEAD BANK', 'creditor.name', 'LAKEHEAD BANK', 'seen'],
        ['AccountNumber', '450231000004471', 'accountNumber', '450231000004471', 'seen'],
        ['HighCreditAmount', '000000007500', 'highCreditAmount', 7500, 'seen'],
        ['PaymentTermAmount', '000000000286', 'paymentTermAmount', 286, 'seen'],
        ['BalanceAmount', '000000000000', 'balanceAmount', 0, 'seen'],
        ['PastDueAmount', '000000000062', 'pastDueAmount', 62, 'seen'],
        ['MonthsReviewed', '07', 'monthsReviewed', 7, 'seen'],
        ['DateOpened', '2015-08', 'dateOpened', '2015-08-01', 'seen'],
        ['DateLastActivityOrPayment', '2026-09', 'dateLastActivityOrPayment', '2026-09-01', 'seen'],
        ['HistoryDerogatoryCounters/Count30DayPastDue', '02', 'count30DaysPastDue', 2, 'seen'],
        ['HistoryDerogatoryCounters/Count60DayPastDue', '01', 'count60DaysPastDue', 1, 'seen'],
        ['HistoryDerogatoryCounters/Count90DayPastDue', '00', 'count90DaysPastDue', 0, 'seen'],
        [
          'PreviousHighPaymentRates/PreviousHighPaymentRate/Date',
          ...(['2021-04', 'previousHighPaymentRates.0.date', '2021-04-01', 'seen'] as const),
        ],
      ],
      codes: [
        ['Association', 'I', 'Individual', 'association', 'INDIVIDUAL', 'seen'],
        ['Association', 'J', 'Joint', 'association', 'JOINT', 'seen'],
        ['Association', 'U', '', 'association', 'UNDESIGNATED', 'concluded'],
        ['Association', 'T', '', 'association', 'TERMINATED', 'concluded'],
        ['PortfolioType', 'R', 'Revolving', 'portfolioType', 'REVOLVING_OR_OPTION', 'seen'],
        ['PortfolioType', 'I', 'Installment', 'portfolioType', 'INSTALMENT', 'seen'],
        ['PortfolioType', 'O', '', 'portfolioType', 'OPEN_ACCOUNT', 'read'],
        ['PortfolioType', 'C', 'Line of credit', 'portfolioType', 'LINE_OF_CREDIT', 'read'],
        ['PortfolioType', 'M', '', 'portfolioType', 'MORTGAGE', 'concluded'],
        ...rate('PaymentRate', 'paymentRate', ''),
        ...STATUSES.map(
          ([code, status]): CodeTuple => ['PaymentRate', code, '', 'status', status, 'concluded'],
        ),
        ...['2', '3', '4', '5', '7', '8'].flatMap((code) =>
          rate(
            'PreviousHighPaymentRates/PreviousHighPaymentRate',
            'previousHighPaymentRates.0.rate',
            code,
          ),
        ),
        ...NARRATIVES.map(
          ([code, words, value]): CodeTuple => [
            ...(['Narratives/Narrative', code, words, 'narratives.0', value, 'seen'] as const),
          ],
        ),
      ],
    },
    withSections,
  ),
};

const KEY = '<CreditorId><CustomerNumber>481ON00123</CustomerNumber></CreditorId>';
const withExtended = (older: string, newer: string) =>
  withSections(
    nest(TRADE, `${KEY}<AccountNumber>450231000004471</AccountNumber>${older}`) +
      nest('CNExtendedTrades/CNExtendedTrade', `${KEY}${newer}`),
  );
const ACCOUNT = '<AccountNumber>450231000004471</AccountNumber>';
const extended = (
  wire: string,
  older: string,
  newer: string,
  field: string,
  value: unknown,
): FormatRow => ({
  ...{ wire: `CNExtendedTrades/CNExtendedTrade/${wire}`, becomes: `trades.0.${field}` },
  ...{ known: 'seen', path: `trades.0.${field}`, value },
  answers: [withExtended(older, `${ACCOUNT}${newer}`)],
});
const profile = (contents: string, day = '2026-10-14') =>
  nest('PaymentProfiles/PaymentProfile', `<ETDateReported>${day}</ETDateReported>${contents}`);

const EXTENDED: FormatPart = {
  title: 'Extended trades',
  rows: [
    extended(
      'ETDateReported',
      '<DateReported>2026-10</DateReported>',
      '<ETDateReported>2026-10-14</ETDateReported>',
      'dateReported',
      '2026-10-14',
    ),
    extended(
      'ETDateOpened',
      '<DateOpened>2015-08</DateOpened>',
      '<ETDateOpened>2015-08-14</ETDateOpened>',
      'dateOpened',
      '2015-08-14',
    ),
    extended(
      'DateOfLastActivity, of another month',
      '<DateLastActivityOrPayment>2026-10</DateLastActivityOrPayment>',
      '<DateOfLastActivity>2026-09-25</DateOfLastActivity>',
      'dateLastActivityOrPayment',
      '2026-09-25',
    ),
    extended(
      'DateFirstDelinquency',
      '',
      '<DateFirstDelinquency>2025-03-20</DateFirstDelinquency>',
      'dateFirstDelinquency',
      '2025-03-20',
    ),
    extended(
      'CreditLimitAmount',
      '',
      '<CreditLimitAmount>0000007500</CreditLimitAmount>',
      'creditLimitAmount',
      7500,
    ),
    extended(
      'AccountType `02` AUTO',
      '',
      '<AccountType code="02" description="AUTO"/>',
      'accountType',
      'AUTO',
    ),
    extended(
      'AccountType `07` SECURED',
      '',
      '<AccountType code="07" description="SECURED"/>',
      'accountType',
      'SECURED',
    ),
    extended(
      'PaymentProfiles/PaymentProfile/ETDateReported',
      '',
      profile('<PaymentRate code="1"/>'),
      'paymentProfile.0.month',
      '2026-10',
    ),
    extended(
      'PaymentProfiles/PaymentProfile/PaymentRate',
      '',
      profile('<PaymentRate code="1"/>'),
      'paymentProfile.0.rate',
      'PAID_AS_AGREED_AND_UP_TO_DATE',
    ),
    extended(
      'PaymentProfiles/PaymentProfile/PortfolioType `C` Line of credit',
      '<PortfolioType code="R" description="Revolving"/>',
      profile('<PortfolioType code="C" description="Line of credit"/>'),
      'portfolioType',
      'LINE_OF_CREDIT',
    ),
    {
      ...extended(
        'AccountNumber, of which the older section has the last 15 characters',
        '<DateOpened>2015-08</DateOpened>',
        '',
        'dateOpened',
        '2015-08-14',
      ),
      answers: [
        withExtended(
          '<DateOpened>2015-08</DateOpened>',
          '<AccountNumber>9450231000004471</AccountNumber><ETDateOpened>2015-08-14</ETDateOpened>',
        ),
      ],
    },
    {
      ...extended(
        'of another account, in the same months',
        '<DateOpened>2015-08</DateOpened>',
        '',
        'dateOpened',
        '2015-08-01',
      ),
      answers: [
        withExtended(
          '<DateOpened>2015-08</DateOpened>',
          '<AccountNumber>1</AccountNumber><ETDateOpened>2015-08-14</ETDateOpened>',
        ),
      ],
    },
  ],
};

export const EQUIFAX_TRADES: readonly FormatPart[] = [TRADES, EXTENDED];
