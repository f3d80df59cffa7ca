/** The trades of an Equifax answer: once with months, and once more in CNExtendedTrades with exact days. */
import type { Trade } from '../credit-file.ts';
import { element, group, list, text } from '../xml-text.ts';
import { codeOf } from './codes.ts';
import { amount, coded, count, month, narratives, party } from './values.ts';

/** Both sections. A trade that is a line of credit is a revolving one in the older section. */
export function writeTrades(trades: readonly Trade[] | undefined): string {
  return [
    list('CNTrades', trades, writeTrade),
    list('CNExtendedTrades', trades, writeExtendedTrade),
  ].join('');
}

function writeTrade(it: Trade): string {
  const isLineOfCredit = it.portfolioType === 'LINE_OF_CREDIT';
  return element(
    'CNTrade',
    {},
    month('DateReported', it.dateReported),
    party('CreditorId', it.creditor),
    text('AccountNumber', it.accountNumber),
    coded('Association', it.association),
    amount('HighCreditAmount', it.highCreditAmount),
    amount('PaymentTermAmount', it.paymentTermAmount),
    amount('BalanceAmount', it.balanceAmount),
    amount('PastDueAmount', it.pastDueAmount),
    count('MonthsReviewed', it.monthsReviewed),
    month('DateOpened', it.dateOpened),
    month('DateLastActivityOrPayment', it.dateLastActivityOrPayment),
    coded('PortfolioType', isLineOfCredit ? 'REVOLVING_OR_OPTION' : it.portfolioType),
    writeRate('PaymentRate', it.paymentRate ?? it.status),
    group(
      'HistoryDerogatoryCounters',
      count('Count30DayPastDue', it.count30DaysPastDue),
      count('Count60DayPastDue', it.count60DaysPastDue),
      count('Count90DayPastDue', it.count90DaysPastDue),
    ),
    list('PreviousHighPaymentRates', it.previousHighPaymentRates, ({ rate, date }) =>
      writeRate('PreviousHighPaymentRate', rate, month('Date', date)),
    ),
    narratives(it.narratives),
  );
}

/** A rate's code, with a leading space as in some answers of the bureau. */
function writeRate(name: string, rate: string | undefined, ...contents: string[]): string {
  if (rate === undefined && contents.every((it) => it === '')) return '';
  const { code, description } = codeOf('PaymentRate', rate);
  return element(name, { code: code && ` ${code}`, description }, ...contents);
}

function writeExtendedTrade(it: Trade): string {
  return element(
    'CNExtendedTrade',
    {},
    text('DateReported', it.dateReported),
    text('DateOpened', it.dateOpened),
    text('DateLastActivityOrPayment', it.dateLastActivityOrPayment),
    coded('PortfolioType', it.portfolioType),
  );
}
