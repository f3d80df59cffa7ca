import { describe, expect, test } from 'vitest';
import type { Trade } from '../../credit-file.ts';
import { monthlyPayment, totalAccounts } from './account-totals.ts';

const card = (trade: Trade): Trade => ({ portfolioType: 'REVOLVING_OR_OPTION', ...trade });

describe('totals of accounts', () => {
  test('are unknown if no account reports an amount', () => {
    expect(totalAccounts([{}, {}])).toEqual({
      balance: undefined,
      pastDue: undefined,
      limits: undefined,
      utilisation: undefined,
      monthlyPayments: undefined,
      usDollars: { accounts: 0, balance: 0 },
    });
  });

  test('add up what is reported, zeros included', () => {
    const trades = [{ balanceAmount: 100, pastDueAmount: 0 }, { balanceAmount: 50 }, {}];
    expect(totalAccounts(trades)).toMatchObject({ balance: 150, pastDue: 0 });
  });

  test('leave out accounts in US dollars, and count them apart', () => {
    const trades: Trade[] = [
      { balanceAmount: 100 },
      { balanceAmount: 70, paymentTermAmount: 7, narratives: ['US_DOLLAR_ACCOUNT'] },
    ];
    const totals = totalAccounts(trades);
    expect(totals).toMatchObject({ balance: 100, usDollars: { accounts: 1, balance: 70 } });
    expect(totals.monthlyPayments).toBeUndefined();
  });
});

describe('utilisation', () => {
  test('relates the balances of revolving accounts and lines of credit to their limits', () => {
    const trades: Trade[] = [
      card({ highCreditAmount: 1000, balanceAmount: 900 }),
      { portfolioType: 'LINE_OF_CREDIT', highCreditAmount: 3000, balanceAmount: 100 },
      { portfolioType: 'INSTALMENT', highCreditAmount: 20_000, balanceAmount: 20_000 },
    ];
    expect(totalAccounts(trades)).toMatchObject({
      balance: 21_000,
      limits: 4000,
      utilisation: { used: 1000, limits: 4000 },
    });
  });

  test('counts any account whose high credit is said to be a limit', () => {
    const trade: Trade = {
      portfolioType: 'OPEN_ACCOUNT',
      highCreditAmount: 500,
      balanceAmount: 50,
      narratives: ['AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT'],
    };
    expect(totalAccounts([trade]).utilisation).toEqual({ used: 50, limits: 500 });
  });

  test('leaves out closed accounts, whose limits nobody can draw on', () => {
    const closed = card({
      highCreditAmount: 1000,
      balanceAmount: 400,
      narratives: ['CLOSED_BY_CREDIT_GRANTOR'],
    });
    const open = card({ highCreditAmount: 1000, balanceAmount: 100 });
    expect(totalAccounts([closed, open])).toMatchObject({
      balance: 500,
      utilisation: { used: 100, limits: 1000 },
    });
  });

  test('takes the credit limit that the bureau gives apart before the high credit', () => {
    const trade = card({ highCreditAmount: 5200, creditLimitAmount: 5000, balanceAmount: 100 });
    expect(totalAccounts([trade]).utilisation).toEqual({ used: 100, limits: 5000 });
  });

  test('leaves out accounts without a balance or with a limit of zero', () => {
    const trades = [
      card({ highCreditAmount: 5000 }),
      card({ highCreditAmount: 0, balanceAmount: 10 }),
    ];
    expect(totalAccounts(trades)).toMatchObject({ limits: 5000, utilisation: undefined });
  });
});

describe('the payment of an account', () => {
  const owed: Trade = { paymentTermAmount: 120, balanceAmount: 1000 };

  test.each<[NonNullable<Trade['narratives']>, number]>([
    [[], 120],
    [['MONTHLY_PAYMENTS'], 120],
    [['WEEKLY_PAYMENTS'], 520],
    [['AMOUNT_IN_PAYMENT_COLUMN_IS_ON_A_WEEKLY_BASIS'], 520],
    [['BI_WEEKLY_PAYMENTS'], 260],
    [['SEMI_MONTHLY_PAYMENTS'], 240],
    [['BI_MONTHLY_PAYMENTS'], 60],
    [['QUARTERLY_PAYMENTS'], 40],
    [['SEMI_ANNUAL_PAYMENTS'], 20],
    [['ANNUAL_PAYMENTS'], 10],
    [['SINGLE_PAYMENT_LOAN'], 0],
  ])('with %j is %d in a month', (narratives, expected) => {
    expect(monthlyPayment({ ...owed, narratives })).toBe(expected);
  });

  test('is unknown if the account is closed, paid off, or reports none', () => {
    expect(monthlyPayment({ ...owed, narratives: ['ACCOUNT_CLOSED'] })).toBeUndefined();
    expect(monthlyPayment({ ...owed, association: 'TERMINATED' })).toBeUndefined();
    expect(monthlyPayment({ ...owed, balanceAmount: 0 })).toBeUndefined();
    expect(monthlyPayment({ balanceAmount: 5 })).toBeUndefined();
  });

  test.each<Trade>([
    { paymentRate: 'BAD_DEBT_PLACED_FOR_COLLECTION' },
    { paymentRate: 'REPOSSESSION' },
    { narratives: ['ACCOUNT_ASSIGNED_TO_THIRD_PARTY_FOR_COLLECTION'] },
    { narratives: ['VOLUNTARY_REPOSSESSION'] },
    { narratives: ['INVOLUNTARY_REPOSSESSION'] },
    { narratives: ['FORECLOSURE'] },
  ])('is no monthly payment if the creditor has ended the account: %j', (ended) => {
    expect(monthlyPayment({ ...owed, ...ended })).toBeUndefined();
  });
});
