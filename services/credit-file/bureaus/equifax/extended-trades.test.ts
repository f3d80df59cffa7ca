import { describe, expect, test } from 'vitest';
import { equifaxAnswer, readFile } from '../test-formats.ts';

interface Row {
  creditor?: string;
  account?: string;
  contents: string;
}

const write = (name: string, { creditor = '481BB00011', account, contents }: Row) =>
  `<${name}><CreditorId><CustomerNumber>${creditor}</CustomerNumber></CreditorId>` +
  `${account === undefined ? '' : `<AccountNumber>${account}</AccountNumber>`}${contents}</${name}>`;

function read(trades: Row[], extended: Row[]) {
  const [older, newer] = [
    trades.map((row) => write('CNTrade', row)),
    extended.map((row) => write('CNExtendedTrade', row)),
  ];
  return readFile(
    'equifax',
    equifaxAnswer(
      `<CNTrades>${older.join('')}</CNTrades><CNExtendedTrades>${newer.join('')}</CNExtendedTrades>`,
    ),
  );
}

const openedIn = (month: string) => `<DateOpened>${month}</DateOpened>`;
const openedOn = (day: string) => `<ETDateOpened>${day}</ETDateOpened>`;
const openings = ({ file }: ReturnType<typeof read>) =>
  file.trades?.map(({ dateOpened }) => dateOpened);

describe('an extended trade', () => {
  test('with the account number of a trade gives its exact days, whatever the order of both sections', () => {
    const answer = read(
      [
        { account: 'A1', contents: openedIn('2024-07') },
        { account: 'A2', contents: openedIn('2024-07') },
      ],
      [
        { account: 'A2', contents: openedOn('2024-07-22') },
        { account: 'A1', contents: openedOn('2024-07-11') },
      ],
    );
    expect(openings(answer)).toEqual(['2024-07-11', '2024-07-22']);
    expect(answer.file.trades?.[0]?.datesWithoutDay).toBeUndefined();
    expect(answer.unknownCodes).toEqual([]);
  });

  test('is found by the last 15 characters of a longer account number', () => {
    const answer = read(
      [{ account: '345678901234567', contents: openedIn('2024-07') }],
      [{ account: '4512345678901234567', contents: openedOn('2024-07-11') }],
    );
    expect(openings(answer)).toEqual(['2024-07-11']);
  });

  test('gives its day also where the months of both sections differ', () => {
    const [trade] =
      read(
        [
          {
            account: 'A1',
            contents: '<DateLastActivityOrPayment>2024-06</DateLastActivityOrPayment>',
          },
        ],
        [{ account: 'A1', contents: '<DateOfLastActivity>2024-07-03</DateOfLastActivity>' }],
      ).file.trades ?? [];
    expect(trade?.dateLastActivityOrPayment).toBe('2024-07-03');
  });

  test.each([
    ['of another creditor', { creditor: '481BB00099', account: 'A1' }],
    ['with another account number', { account: 'A9' }],
  ])('%s is of no trade, and is listed and counted', (_what, row) => {
    const { file, unknownCodes } = read(
      [{ account: 'A1', contents: openedIn('2024-07') }],
      [{ ...row, contents: openedOn('2024-07-11') }],
    );
    expect(file.trades).toMatchObject([
      { dateOpened: '2024-07-01', datesWithoutDay: ['dateOpened'] },
    ]);
    const section = 'CNExtendedTrades/CNExtendedTrade';
    expect(file.alsoReported).toEqual([{ section, count: 1 }]);
    expect(unknownCodes).toMatchObject([{ code: '(not read)' }]);
  });

  test('of an account that several trades have is that of the month in which it was opened', () => {
    const trades = ['2024-07', '2023-01'].map((it) => ({ account: 'A1', contents: openedIn(it) }));
    const extended = ['2023-01-19', '2024-07-11'].map((it) => ({
      account: 'A1',
      contents: openedOn(it),
    }));
    expect(openings(read(trades, extended))).toEqual(['2024-07-11', '2023-01-19']);
    const same = trades.map((it) => ({ ...it, contents: openedIn('2024-07') }));
    expect(openings(read(same, extended))).toEqual(['2024-07-01', '2024-07-01']);
  });

  test('without an account number is that of its creditor, opened in the same month', () => {
    const trades = [
      { account: 'A1', contents: openedIn('2024-07') },
      { account: 'A2', contents: openedIn('2023-01') },
    ];
    expect(openings(read(trades, [{ contents: openedOn('2023-01-19') }]))).toEqual([
      '2024-07-01',
      '2023-01-19',
    ]);
    expect(openings(read(trades, [{ contents: '' }]))).toEqual(['2024-07-01', '2023-01-01']);
  });
});

test.each([
  ['R', 'C', 'LINE_OF_CREDIT'],
  ['I', 'M', 'INSTALMENT'],
  ['QQ', 'M', 'MORTGAGE'],
  ['I', 'QQ', 'INSTALMENT'],
])('a trade of type %s whose newest month is of type %s is %s', (type, newest, result) => {
  const coded = (code: string) => `<PortfolioType code="${code}"/>`;
  const month = (date: string, code: string) =>
    `<PaymentProfile><ETDateReported>${date}</ETDateReported>${coded(code)}</PaymentProfile>`;
  const profiles = month('2024-06-30', 'O') + month('2024-07-31', newest);
  const { file } = read(
    [{ account: 'A1', contents: coded(type) }],
    [{ account: 'A1', contents: `<PaymentProfiles>${profiles}</PaymentProfiles>` }],
  );
  expect(file.trades).toMatchObject([{ portfolioType: result }]);
});

test('the payment profile has every month, the newest first, with its rate or status', () => {
  const codes = ['1', '2', '3', '4', '5', '7', '8', '9', '0', 'A', 'Q'];
  const profiles = codes.map((code, index) => {
    const month = String(12 - index).padStart(2, '0');
    return `<PaymentProfile><ETDateReported>2025-${month}-28</ETDateReported><PaymentRate code=" ${code}"/></PaymentProfile>`;
  });
  const { file, unknownCodes } = read(
    [{ account: 'A1', contents: '' }],
    [
      {
        account: 'A1',
        contents:
          `<PaymentProfiles>${profiles.toReversed().join('')}</PaymentProfiles>` +
          '<CreditLimitAmount>0000008000</CreditLimitAmount><AccountType code="02" description="AUTO"/>' +
          '<DateFirstDelinquency>2025-03-14</DateFirstDelinquency>',
      },
    ],
  );
  const [trade] = file.trades ?? [];
  expect(trade).toMatchObject({
    creditLimitAmount: 8000,
    accountType: 'AUTO',
    dateFirstDelinquency: '2025-03-14',
  });
  expect(trade?.paymentProfile).toEqual([
    { month: '2025-12', rate: 'PAID_AS_AGREED_AND_UP_TO_DATE' },
    { month: '2025-11', rate: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE' },
    { month: '2025-10', rate: 'NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE' },
    { month: '2025-09', rate: 'THREE_OR_MORE_PAYMENTS_PAST_DUE' },
    { month: '2025-08', rate: 'AT_LEAST_120_DAYS_OVERDUE_BUT_NOT_RATED_9' },
    { month: '2025-07', rate: 'MAKING_REGULAR_PAYMENTS_UNDER_CONSOLIDATION_ORDER' },
    { month: '2025-06', rate: 'REPOSSESSION' },
    { month: '2025-05', rate: 'BAD_DEBT_PLACED_FOR_COLLECTION' },
    { month: '2025-04', rate: 'TOO_NEW_TO_RATE' },
    { month: '2025-03', status: 'ACCOUNT_IS_INACTIVE' },
    { month: '2025-02' },
  ]);
  expect(unknownCodes).toEqual([{ section: 'PaymentProfile/PaymentRate', code: 'Q' }]);
});
