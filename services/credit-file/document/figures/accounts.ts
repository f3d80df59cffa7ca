/** What a trade says of its account, for the figures of the summary. */
import type { Trade } from '../../credit-file.ts';

export type TradeNarrative = NonNullable<Trade['narratives']>[number];

const CLOSED: readonly TradeNarrative[] = [
  'ACCOUNT_CLOSED',
  'ACCOUNT_PAID',
  'CLOSED_AT_CONSUMERS_REQUEST',
  'CLOSED_BY_CREDIT_GRANTOR',
  'CREDIT_LINE_CLOSED',
  'PAID_CREDIT_LINE_CLOSED',
  'PAID_OUT_IN_FULL_BY_CO_SIGNER',
  'LOAN_WAS_PAID_OUT_BY_A_THIRD_PARTY',
  'PREPAID',
  'REFINANCED',
  'TRANSFERRED_OR_SOLD',
  'WRITTEN_OFF',
];

/** The creditor has taken the security, or has given the debt to a collector. */
const ENDED_BY_DEFAULT: readonly TradeNarrative[] = [
  'ACCOUNT_ASSIGNED_TO_THIRD_PARTY_FOR_COLLECTION',
  'FORECLOSURE',
  'FORFEIT_OF_DEED_IN_LIEU_OF_FORECLOSURE',
  'LEASE_EARLY_TERMINATION_BY_DEFAULT',
];

export function hasNarrative(trade: Trade, ...narratives: TradeNarrative[]): boolean {
  return narratives.some((narrative) => trade.narratives?.includes(narrative));
}

/**
 * Whether the subject can still owe payments or borrow: nothing says that the account has ended. A bad debt is owed, but no
 * longer in payments.
 */
export function isOpen(trade: Trade): boolean {
  return (
    trade.association !== 'TERMINATED' &&
    trade.paymentRate !== 'BAD_DEBT_PLACED_FOR_COLLECTION' &&
    !isRepossessed(trade) &&
    !hasNarrative(trade, ...CLOSED, ...ENDED_BY_DEFAULT)
  );
}

/** Whether the creditor has the security, by the account's rate or by a narrative without one of its return. */
export function isRepossessed(trade: Trade): boolean {
  if (trade.paymentRate === 'REPOSSESSION') return true;
  const wasTaken = hasNarrative(trade, 'INVOLUNTARY_REPOSSESSION', 'VOLUNTARY_REPOSSESSION');
  return wasTaken && !hasNarrative(trade, 'REDEEMED_REPOSSESSION');
}

export function isInUsDollars(trade: Trade): boolean {
  return hasNarrative(trade, 'US_DOLLAR_ACCOUNT');
}

/** The credit limit of an open account that can be drawn on again; undefined for any other account. */
export function creditLimit(trade: Trade): number | undefined {
  const revolves =
    trade.portfolioType === 'REVOLVING_OR_OPTION' ||
    trade.portfolioType === 'LINE_OF_CREDIT' ||
    hasNarrative(trade, 'AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT');
  if (!revolves || !isOpen(trade)) return undefined;
  return trade.creditLimitAmount ?? trade.highCreditAmount;
}
