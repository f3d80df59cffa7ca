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

export function hasNarrative(trade: Trade, ...narratives: TradeNarrative[]): boolean {
  return narratives.some((narrative) => trade.narratives?.includes(narrative));
}

/** Whether the subject can still owe payments or borrow: no narrative says that the account has ended. */
export function isOpen(trade: Trade): boolean {
  return trade.association !== 'TERMINATED' && !hasNarrative(trade, ...CLOSED);
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
  return revolves && isOpen(trade) ? trade.highCreditAmount : undefined;
}
