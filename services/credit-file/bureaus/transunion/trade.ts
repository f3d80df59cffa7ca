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

export function readTrade(it: XmlElement, values: AnswerValues): Trade | undefined {
  const narratives = [
    values.code(it, 'Narrative1', 'narrative', TRADE_NARRATIVES),
    values.code(it, 'Narrative2', 'narrative', TRADE_NARRATIVES),
    values.code(it, 'Frequency', 'paymentFrequency', TRADE_NARRATIVES),
  ].filter((narrative) => narrative !== undefined);
  return presentFields<Trade>({
    dateReported: values.date(it, 'DateRevised'),
    creditor: presentFields({
      id: values.text(it, 'MemberCode'),
      name: values.text(it, 'MemberName'),
    }),
    accountNumber: values.text(it, 'Account'),
    association: values.code(it, 'Joint', 'association', ASSOCIATIONS),
    highCreditAmount: values.amount(it, 'HighCredit'),
    paymentTermAmount: values.amount(it, 'Payment'),
    balanceAmount: values.amount(it, 'Balance'),
    pastDueAmount: values.amount(it, 'PastDue'),
    monthsReviewed: values.amount(it, 'MonthsReviewed'),
    dateOpened: values.date(it, 'DateOpened'),
    dateLastActivityOrPayment: values.date(it, 'DateLastActivity'),
    portfolioType: values.code(it, 'Type', 'portfolioType', PORTFOLIO_TYPES),
    paymentRate: values.code(it, 'MOP', 'paymentRate', PAYMENT_RATES),
    count30DaysPastDue: values.amount(it, 'Plus30'),
    count60DaysPastDue: values.amount(it, 'Plus60'),
    count90DaysPastDue: values.amount(it, 'Plus90'),
    narratives: [...new Set(narratives)],
  });
}
