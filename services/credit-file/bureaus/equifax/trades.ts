/** The trades of an Equifax report, with what its section of extended trades adds. */

import type { PaymentRate, Trade } from '../../credit-file.ts';
import {
  ASSOCIATIONS,
  PAYMENT_RATES,
  PORTFOLIO_TYPES,
  TRADE_NARRATIVES,
  TRADE_STATUSES,
} from '../../credit-file-values.ts';
import { type AnswerValues, presentFields, readEach } from '../answer/answer-values.ts';
import { findElement, findElements } from '../answer/find-element.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import { readMember, readNarratives } from './party.ts';

type TradeStatus = NonNullable<Trade['status']>;

const RATES_AND_STATUSES = new Set<PaymentRate | TradeStatus>([
  ...PAYMENT_RATES,
  ...TRADE_STATUSES,
]);

/** The dates of a trade, by the names that those of an extended trade have in the tables. */
const EXACT_DATES = {
  extendedTradeReported: 'DateReported',
  extendedTradeOpened: 'DateOpened',
  extendedTradeLastActivity: 'DateLastActivityOrPayment',
} as const;
type ExactDate = keyof typeof EXACT_DATES;
/** The extended trades are not those of the trades: nothing of them is used. */
const OTHER_ORDER = '(other order)';

export function readTrades(report: XmlElement, values: AnswerValues): Trade[] {
  const trades = findElements(report, 'CNTrades/CNTrade');
  const extended = findElements(report, values.pathOf('extendedTrade'));
  const isSameList = isOfSameTrades(trades, extended, values);
  if (extended.length > 0 && !isSameList) values.leaveOut(report, 'CNExtendedTrades', OTHER_ORDER);
  return trades
    .map((trade, at) => readTrade(trade, isSameList ? extended[at] : undefined, values))
    .filter((trade) => trade !== undefined);
}

/**
 * Whether the extended trades are those of the trades, in their order. Nothing but the months of the dates
 * links the two lists, so one that differs makes all pairs doubtful.
 */
function isOfSameTrades(
  trades: readonly XmlElement[],
  extended: readonly XmlElement[],
  values: AnswerValues,
): boolean {
  const isPair = (trade: XmlElement, other: XmlElement | undefined) =>
    Object.entries(EXACT_DATES).every(([exactName, name]) => {
      const [month, exact] = [
        values.text(trade, name),
        values.text(other, values.pathOf(exactName)),
      ];
      return month === undefined || exact === undefined || exact.startsWith(month.slice(0, 7));
    });
  return extended.length === trades.length && trades.every((it, at) => isPair(it, extended[at]));
}

function readTrade(
  it: XmlElement,
  extended: XmlElement | undefined,
  values: AnswerValues,
): Trade | undefined {
  const dateOf = (exactName: ExactDate) =>
    (extended && values.date(extended, values.pathOf(exactName))) ??
    values.date(it, EXACT_DATES[exactName]);
  const type = values.code(it, 'PortfolioType', 'portfolioType', PORTFOLIO_TYPES);
  const extendedType =
    extended &&
    values.code(extended, values.pathOf('extendedTradeType'), 'portfolioType', PORTFOLIO_TYPES);
  const rateOrStatus = values.code(it, 'PaymentRate', 'paymentRate', RATES_AND_STATUSES);
  return presentFields<Trade>({
    dateReported: dateOf('extendedTradeReported'),
    creditor: readMember(findElement(it, 'CreditorId'), values),
    accountNumber: values.text(it, 'AccountNumber'),
    association: values.code(it, 'Association', 'association', ASSOCIATIONS),
    highCreditAmount: values.amount(it, 'HighCreditAmount'),
    paymentTermAmount: values.amount(it, 'PaymentTermAmount'),
    balanceAmount: values.amount(it, 'BalanceAmount'),
    pastDueAmount: values.amount(it, 'PastDueAmount'),
    monthsReviewed: values.amount(it, 'MonthsReviewed'),
    dateOpened: dateOf('extendedTradeOpened'),
    dateLastActivityOrPayment: dateOf('extendedTradeLastActivity'),
    // In the older section a line of credit may stand as a revolving account.
    portfolioType: extendedType === 'LINE_OF_CREDIT' ? extendedType : (type ?? extendedType),
    paymentRate: [...PAYMENT_RATES].find((rate) => rate === rateOrStatus),
    status: [...TRADE_STATUSES].find((status) => status === rateOrStatus),
    count30DaysPastDue: values.amount(it, 'HistoryDerogatoryCounters/Count30DayPastDue'),
    count60DaysPastDue: values.amount(it, 'HistoryDerogatoryCounters/Count60DayPastDue'),
    count90DaysPastDue: values.amount(it, 'HistoryDerogatoryCounters/Count90DayPastDue'),
    previousHighPaymentRates: readEach(
      findElements(it, 'PreviousHighPaymentRates/PreviousHighPaymentRate'),
      (rate) =>
        presentFields({
          date: values.date(rate, 'Date'),
          rate: values.code(rate, '', 'paymentRate', PAYMENT_RATES),
        }),
    ),
    narratives: readNarratives(it, values, TRADE_NARRATIVES),
  });
}
