/** The trades of an Equifax report, with what its section of extended trades adds. */
import type { Trade } from '../../credit-file.ts';
import {
  ASSOCIATIONS,
  PAYMENT_RATES,
  PORTFOLIO_TYPES,
  TRADE_NARRATIVES,
} from '../../credit-file-values.ts';
import { type AnswerValues, presentFields, readEach } from '../answer/answer-values.ts';
import { findElement, findElements } from '../answer/find-element.ts';
import type { ReportSections } from '../answer/report-sections.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import { matchExtendedTrades, readExtension, readRate, readTradeDates } from './extended-trades.ts';
import { readMember, readNarratives } from './party.ts';

const EXTENDED_TRADE = 'CNExtendedTrades/CNExtendedTrade';

export function readTrades(report: ReportSections, values: AnswerValues): Trade[] {
  const trades = report.list('CNTrades/CNTrade');
  const { byTrade, others } = matchExtendedTrades(trades, report.list(EXTENDED_TRADE), values);
  report.leave(EXTENDED_TRADE, others);
  return readEach(trades, (trade) => readTrade(trade, byTrade.get(trade), values));
}

function readTrade(
  it: XmlElement,
  extended: XmlElement | undefined,
  values: AnswerValues,
): Trade | undefined {
  const type = values.code(it, 'PortfolioType', 'portfolioType', PORTFOLIO_TYPES);
  const { currentType, ...extension } = extended ? readExtension(extended, values) : {};
  const { rate, status } = readRate(it, 'PaymentRate', values);
  return presentFields<Trade>({
    ...readTradeDates(it, extended, values),
    creditor: readMember(findElement(it, 'CreditorId'), values),
    accountNumber: values.text(it, 'AccountNumber'),
    association: values.code(it, 'Association', 'association', ASSOCIATIONS),
    highCreditAmount: values.amount(it, 'HighCreditAmount'),
    paymentTermAmount: values.amount(it, 'PaymentTermAmount'),
    balanceAmount: values.amount(it, 'BalanceAmount'),
    pastDueAmount: values.amount(it, 'PastDueAmount'),
    monthsReviewed: values.amount(it, 'MonthsReviewed'),
    // In the older section a line of credit may stand as a revolving account.
    portfolioType: currentType === 'LINE_OF_CREDIT' ? currentType : (type ?? currentType),
    paymentRate: rate,
    status,
    count30DaysPastDue: values.amount(it, 'HistoryDerogatoryCounters/Count30DayPastDue'),
    count60DaysPastDue: values.amount(it, 'HistoryDerogatoryCounters/Count60DayPastDue'),
    count90DaysPastDue: values.amount(it, 'HistoryDerogatoryCounters/Count90DayPastDue'),
    previousHighPaymentRates: readEach(
      findElements(it, 'PreviousHighPaymentRates/PreviousHighPaymentRate'),
      (previous) =>
        presentFields({
          ...values.dates(previous, { date: 'Date' }),
          rate: values.code(previous, '', 'paymentRate', PAYMENT_RATES),
        }),
    ),
    narratives: readNarratives(it, values, TRADE_NARRATIVES),
    ...extension,
  });
}
