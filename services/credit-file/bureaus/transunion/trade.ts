/** A trade of a TransUnion report. */
import type { Trade } from '../../credit-file.ts';
import {
  ASSOCIATIONS,
  PAYMENT_RATES,
  PORTFOLIO_TYPES,
  TRADE_NARRATIVES,
} from '../../credit-file-values.ts';
import { type AnswerValues, presentFields } from '../answer/answer-values.ts';
import type { XmlElement } from '../answer/xml-document.ts';

export interface PaymentPatternOptions {
  /** Whether a payment pattern begins with the month of its start date and goes back, or forward. */
  readonly paymentPattern: 'NEWEST_FIRST' | 'OLDEST_FIRST';
}

const CREDIT_LIMIT = 'AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT' as const;

export function readTrade(
  it: XmlElement,
  values: AnswerValues,
  options: PaymentPatternOptions,
): Trade | undefined {
  const highCreditAmount = values.amount(it, 'HighCredit');
  const creditLimitAmount = values.isGiven(it, 'CreditLimit')
    ? values.amount(it, 'CreditLimit')
    : undefined;
  const isLimit = !highCreditAmount && creditLimitAmount !== undefined;
  const narratives = [
    isLimit ? CREDIT_LIMIT : undefined,
    values.code(it, 'Narrative1', 'narrative', TRADE_NARRATIVES),
    values.code(it, 'Narrative2', 'narrative', TRADE_NARRATIVES),
    values.code(it, 'Frequency', 'paymentFrequency', TRADE_NARRATIVES),
  ].filter((narrative) => narrative !== undefined);
  return presentFields<Trade>({
    ...values.dates(it, {
      dateReported: 'DateRevised',
      dateOpened: 'DateOpened',
      dateLastActivityOrPayment: 'DateLastActivity',
    }),
    creditor: presentFields({
      id: values.text(it, 'MemberCode'),
      name: values.text(it, 'MemberName'),
    }),
    accountNumber: values.text(it, 'Account'),
    association: values.code(it, 'Joint', 'association', ASSOCIATIONS),
    highCreditAmount: isLimit ? creditLimitAmount : highCreditAmount,
    paymentTermAmount: values.amount(it, 'Payment'),
    balanceAmount: values.amount(it, 'Balance'),
    pastDueAmount: values.amount(it, 'PastDue'),
    monthsReviewed: values.amount(it, 'MonthsReviewed'),
    portfolioType: values.code(it, 'Type', 'portfolioType', PORTFOLIO_TYPES),
    paymentRate: values.code(it, 'MOP', 'paymentRate', PAYMENT_RATES),
    count30DaysPastDue: values.amount(it, 'Plus30'),
    count60DaysPastDue: values.amount(it, 'Plus60'),
    count90DaysPastDue: values.amount(it, 'Plus90'),
    narratives: [...new Set(narratives)],
    creditLimitAmount,
    paymentProfile: readPaymentPattern(it, values, options),
  });
}

const PATTERN = 'PaymentPattern';
const MAX_MONTHS = 24;
/** Signs of a month that was not rated. */
const UNRATED = /[X\s.*-]/i;

/** The pattern has one digit for each month: the last one of a rate. */
function readPaymentPattern(
  it: XmlElement,
  values: AnswerValues,
  { paymentPattern }: PaymentPatternOptions,
): Trade['paymentProfile'] {
  const pattern = values.text(it, PATTERN);
  if (pattern === undefined) return undefined;
  const start = values.dateOrMonth(it, 'PaymentPatternStartDate');
  if (start === undefined) return values.leaveOut(it, PATTERN, '(no start date)');
  if (pattern.length > MAX_MONTHS) values.leaveOut(it, PATTERN, `(more than ${MAX_MONTHS} months)`);
  const isNewestFirst = paymentPattern === 'NEWEST_FIRST';
  const signs = isNewestFirst ? pattern.slice(0, MAX_MONTHS) : pattern.slice(-MAX_MONTHS);
  const skipped = isNewestFirst ? 0 : pattern.length - signs.length;
  const months = Array.from(signs, (sign, index) => ({
    month: monthFrom(start, isNewestFirst ? -index : skipped + index),
    ...(!UNRATED.test(sign) && { rate: rateOf(sign) }),
  }));
  function rateOf(sign: string) {
    const code = `0${sign}`;
    const found = { code, description: '', table: 'paymentRate', values: PAYMENT_RATES } as const;
    return values.lookUp(it, PATTERN, found);
  }
  const present = months.map((month) => presentFields(month)).filter((it) => it !== undefined);
  return isNewestFirst ? present : present.toReversed();
}

/** The month so many months after that of a date, as yyyy-MM. */
function monthFrom(date: string, months: number): string {
  const [year, month] = date.split('-').map(Number);
  return new Date(Date.UTC(year ?? 0, (month ?? 1) - 1 + months)).toISOString().slice(0, 7);
}
