/** The totals of a file's accounts. */
import type { Trade } from '../../credit-file.ts';
import {
  creditLimit,
  hasNarrative,
  isInUsDollars,
  isOpen,
  type TradeNarrative,
} from './accounts.ts';

/** Amounts in Canadian dollars; an amount is undefined if no account reports it. */
export interface AccountTotals {
  balance: number | undefined;
  pastDue: number | undefined;
  /** Of the open accounts that can be drawn on again. */
  limits: number | undefined;
  /** Balances and limits of the accounts that report both; more is used than the limits if they are exceeded. */
  utilisation: { used: number; limits: number } | undefined;
  /** Of the open accounts, for a month. */
  monthlyPayments: number | undefined;
  usDollars: { accounts: number; balance: number };
}

/** Payments in a month by narrative. Without one of these narratives, a payment is monthly. */
const PAYMENTS_IN_A_MONTH: readonly [TradeNarrative, number][] = [
  ['SINGLE_PAYMENT_LOAN', 0],
  ['AMOUNT_IN_PAYMENT_COLUMN_IS_ON_A_WEEKLY_BASIS', 52 / 12],
  ['WEEKLY_PAYMENTS', 52 / 12],
  ['BI_WEEKLY_PAYMENTS', 26 / 12],
  ['SEMI_MONTHLY_PAYMENTS', 2],
  ['BI_MONTHLY_PAYMENTS', 1 / 2],
  ['QUARTERLY_PAYMENTS', 1 / 3],
  ['SEMI_ANNUAL_PAYMENTS', 1 / 6],
  ['ANNUAL_PAYMENTS', 1 / 12],
];

/** Adds up the accounts in Canadian dollars. Those in US dollars are counted apart, as no rate is known. */
export function totalAccounts(trades: readonly Trade[]): AccountTotals {
  const canadian = trades.filter((trade) => !isInUsDollars(trade));
  const american = trades.filter(isInUsDollars);
  // An account without a reported balance would make the utilisation look lower than it is.
  const limited = canadian.filter(
    (trade) => (creditLimit(trade) ?? 0) > 0 && trade.balanceAmount !== undefined,
  );
  const used = sum(limited.map((trade) => trade.balanceAmount));
  const limitsUsed = sum(limited.map(creditLimit));
  return {
    balance: sum(canadian.map((trade) => trade.balanceAmount)),
    pastDue: sum(canadian.map((trade) => trade.pastDueAmount)),
    limits: sum(canadian.map(creditLimit)),
    utilisation:
      used === undefined || limitsUsed === undefined ? undefined : { used, limits: limitsUsed },
    monthlyPayments: sum(canadian.map(monthlyPayment)),
    usDollars: {
      accounts: american.length,
      balance: sum(american.map((trade) => trade.balanceAmount)) ?? 0,
    },
  };
}

/** What an open account costs in a month; undefined if it is closed, is paid off, or reports no payment. */
export function monthlyPayment(trade: Trade): number | undefined {
  const { paymentTermAmount, balanceAmount } = trade;
  if (paymentTermAmount === undefined || !isOpen(trade) || balanceAmount === 0) return undefined;
  const frequency = PAYMENTS_IN_A_MONTH.find(([narrative]) => hasNarrative(trade, narrative));
  return Math.round(paymentTermAmount * (frequency?.[1] ?? 1));
}

/** The sum of the numbers that are there; undefined if none is. */
export function sum(amounts: readonly (number | undefined)[]): number | undefined {
  return amounts.reduce<number | undefined>(
    (total, amount) => (amount === undefined ? total : (total ?? 0) + amount),
    undefined,
  );
}
