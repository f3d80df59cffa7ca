/** What the section of extended trades adds to the trades of an Equifax report. */
import type { PaymentRate, Trade } from '../../credit-file.ts';
import { PAYMENT_RATES, PORTFOLIO_TYPES, TRADE_STATUSES } from '../../credit-file-values.ts';
import { type AnswerValues, type Dates, presentFields } from '../answer/answer-values.ts';
import { findElements } from '../answer/find-element.ts';
import type { XmlElement } from '../answer/xml-document.ts';

type TradeStatus = NonNullable<Trade['status']>;

const RATES_AND_STATUSES = new Set<PaymentRate | TradeStatus>([
  ...PAYMENT_RATES,
  ...TRADE_STATUSES,
]);

/** A coded element is a rate, or a status in its place. */
export function readRate(it: XmlElement, path: string, values: AnswerValues) {
  const rateOrStatus = values.code(it, path, 'paymentRate', RATES_AND_STATUSES);
  return {
    rate: [...PAYMENT_RATES].find((rate) => rate === rateOrStatus),
    status: [...TRADE_STATUSES].find((status) => status === rateOrStatus),
  };
}

/** The extended trades by the trades that they are of, and those that are of none. */
export interface ExtendedTrades {
  readonly byTrade: ReadonlyMap<XmlElement, XmlElement>;
  readonly others: readonly XmlElement[];
}

/** The older section keeps the last characters of an account number. */
const ACCOUNT_NUMBER_LENGTH = 15;

type KeyOf = (trade: XmlElement) => string | undefined;

/**
 * Finds the extended trade of each trade by creditor and account number, in whatever order they come. Where several have
 * the same, and for an extended trade without an account number, the month of opening decides among those of the creditor.
 * Where it does not, the trade gets none.
 */
export function matchExtendedTrades(
  trades: readonly XmlElement[],
  extended: readonly XmlElement[],
  values: AnswerValues,
): ExtendedTrades {
  const accountOf: KeyOf = (it) => values.text(it, 'AccountNumber')?.slice(-ACCOUNT_NUMBER_LENGTH);
  const creditorOf: KeyOf = (it) =>
    values.text(it, 'CreditorId/CustomerNumber') ?? values.text(it, 'CreditorId/Name');
  const monthOf: KeyOf = (it) =>
    (values.text(it, 'ETDateOpened') ?? values.text(it, 'DateOpened'))?.slice(0, 'yyyy-MM'.length);
  const byAccount = joinKeys(creditorOf, accountOf);
  const byAccountAndMonth = joinKeys(byAccount, monthOf);
  const byMonth = joinKeys(creditorOf, monthOf);
  const byTrade = pairByKey(trades, extended, byAccount);
  const pairRest = (isEligible: (other: XmlElement) => boolean, keyOf: KeyOf) => {
    const paired = new Set(byTrade.values());
    const openTrades = trades.filter((it) => !byTrade.has(it));
    const openExtended = extended.filter((it) => !paired.has(it) && isEligible(it));
    for (const [trade, other] of pairByKey(openTrades, openExtended, keyOf)) {
      byTrade.set(trade, other);
    }
  };
  if (byTrade.size < extended.length) {
    pairRest((it) => accountOf(it) !== undefined, byAccountAndMonth);
    pairRest((it) => accountOf(it) === undefined, byMonth);
  }
  const paired = new Set(byTrade.values());
  return { byTrade, others: extended.filter((it) => !paired.has(it)) };
}

/** A key of two parts; undefined where one of them is missing. */
function joinKeys(one: KeyOf, other: KeyOf): KeyOf {
  return (it) => {
    const [first, second] = [one(it), other(it)];
    return first === undefined || second === undefined ? undefined : `${first} ${second}`;
  };
}

/** The pairs of which no other trade, and no other extended trade, has the key. */
function pairByKey(
  trades: readonly XmlElement[],
  extended: readonly XmlElement[],
  keyOf: KeyOf,
): Map<XmlElement, XmlElement> {
  const [ofTrades, ofExtended] = [trades, extended].map((list) => Map.groupBy(list, keyOf));
  const pairs = new Map<XmlElement, XmlElement>();
  for (const [key, [trade, ...moreTrades]] of ofTrades ?? []) {
    const [other, ...moreExtended] = ofExtended?.get(key) ?? [];
    const isOnlyPair = moreTrades.length === 0 && moreExtended.length === 0;
    if (key !== undefined && trade && other && isOnlyPair) pairs.set(trade, other);
  }
  return pairs;
}

/** Where the dates of a trade are, in both sections. */
const DATES = {
  dateReported: 'DateReported',
  dateOpened: 'DateOpened',
  dateLastActivityOrPayment: 'DateLastActivityOrPayment',
};
const EXACT_DATES = {
  dateReported: 'ETDateReported',
  dateOpened: 'ETDateOpened',
  dateLastActivityOrPayment: 'DateOfLastActivity',
  dateFirstDelinquency: 'DateFirstDelinquency',
};
type TradeDate = keyof typeof EXACT_DATES;

/** The dates of a trade: those of its extended trade where they have a day. */
export function readTradeDates(
  trade: XmlElement,
  extended: XmlElement | undefined,
  values: AnswerValues,
): Dates<TradeDate> {
  const months: Dates<TradeDate> = values.dates(trade, DATES);
  if (extended === undefined) return months;
  const exact = values.dates(extended, EXACT_DATES);
  const chosen = (Object.keys(EXACT_DATES) as TradeDate[]).map((name) => {
    const hasDay = exact[name] !== undefined && !exact.datesWithoutDay?.includes(name);
    const from = hasDay || months[name] === undefined ? exact : months;
    return { name, date: from[name], isMonth: from.datesWithoutDay?.includes(name) === true };
  });
  return {
    ...Object.fromEntries(chosen.map(({ name, date }) => [name, date])),
    datesWithoutDay: chosen.filter(({ isMonth }) => isMonth).map(({ name }) => name),
  };
}

/** What only the extended trade says. */
export function readExtension(extended: XmlElement, values: AnswerValues) {
  const profiles = findElements(extended, 'PaymentProfiles/PaymentProfile')
    .map((it) => ({ it, month: values.dateOrMonth(it, 'ETDateReported')?.slice(0, 7) }))
    // The newest first, as the bureau writes them.
    .toSorted((one, other) => (other.month ?? '').localeCompare(one.month ?? ''));
  const [newest] = profiles;
  return {
    creditLimitAmount: values.amount(extended, 'CreditLimitAmount'),
    accountType: values.words(extended, 'AccountType'),
    currentType:
      newest && values.code(newest.it, 'PortfolioType', 'portfolioType', PORTFOLIO_TYPES),
    paymentProfile: profiles
      .map(({ it, month }) => presentFields({ month, ...readRate(it, 'PaymentRate', values) }))
      .filter((it) => it !== undefined),
  };
}
