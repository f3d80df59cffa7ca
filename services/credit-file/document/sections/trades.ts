/** The section of a file's accounts. */
import type { Trade } from '../../credit-file.ts';
import { isInUsDollars } from '../figures/accounts.ts';
import { lateness } from '../figures/payment-rates.ts';
import type { Tag } from '../sheet/sheet.ts';
import type { CellText, Column, Row } from '../sheet/table.ts';
import { maskAccountNumber } from '../words/formats.ts';
import { type Drawing, drawTableSection, join, labelled, styled, wordOf } from './drawing.ts';
import { profileFigure, profileLegend } from './payment-profile.ts';

export function drawTrades(drawing: Drawing, root: Tag): void {
  const { words, file } = drawing;
  const trades = file.trades ?? [];
  drawTableSection(drawing, root, {
    title: words.labels.trades,
    legend: profileLegend(drawing, trades),
    columns: columnsOf(drawing),
    rows: trades.map((trade) => rowOf(drawing, trade)),
  });
}

function columnsOf({ words: { labels } }: Drawing): Column[] {
  return [
    { title: [labels.creditor, labels.accountNumber], share: 110 },
    { title: [labels.account, labels.association, labels.status], share: 78 },
    { title: [labels.paymentRate], share: 84 },
    { title: [labels.opened, labels.reported, labels.activity], share: 68 },
    { title: [labels.highCredit, labels.creditLimit], share: 50, align: 'right' },
    { title: [labels.balance], share: 48, align: 'right' },
    { title: [labels.pastDue], share: 46, align: 'right' },
    { title: [labels.payment], share: 48, align: 'right' },
  ];
}

function rowOf(drawing: Drawing, trade: Trade): Row {
  const { words, formats } = drawing;
  const { association, portfolioType, paymentRate, tradeStatus } = words.enumerations;
  const currency = isInUsDollars(trade) ? 'USD' : 'CAD';
  const money = (amount: number | undefined) => formats.money(amount, currency);
  const date = (name: 'dateOpened' | 'dateReported' | 'dateLastActivityOrPayment') =>
    formats.dateOf(trade, name) ?? '–';
  const rate = wordOf(paymentRate, trade.paymentRate);
  const isLate = trade.paymentRate !== undefined && lateness(trade.paymentRate) !== undefined;
  const { creditor } = trade;
  const { highCredit, limit } = limitsOf(trade);
  return {
    cells: [
      [
        styled(creditor?.name, 'strong'),
        maskAccountNumber(trade.accountNumber),
        styled(join([creditor?.id, formats.phoneNumber(creditor?.phoneNumber)], ' · '), 'muted'),
      ],
      [
        join([wordOf(portfolioType, trade.portfolioType), trade.accountType], ', '),
        wordOf(association, trade.association),
        styled(
          wordOf(tradeStatus, trade.status),
          trade.status === 'ACCOUNT_IS_INACTIVE' ? 'muted' : 'alert',
        ),
      ],
      [isLate ? styled(rate, 'alert') : rate],
      [date('dateOpened'), date('dateReported'), date('dateLastActivityOrPayment')],
      [money(highCredit) ?? '–', money(limit)],
      [money(trade.balanceAmount)],
      [
        trade.pastDueAmount
          ? styled(money(trade.pastDueAmount), 'alert')
          : money(trade.pastDueAmount),
      ],
      [money(trade.paymentTermAmount)],
    ],
    note: [noteOf(drawing, trade)],
    figure: profileFigure(drawing, trade),
  };
}

/** The highest balance that there was, and the limit: a high credit is the limit if a narrative says so. */
function limitsOf({ highCreditAmount, creditLimitAmount, narratives }: Trade) {
  const isLimit = narratives?.includes('AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT');
  if (!isLimit) return { highCredit: highCreditAmount, limit: creditLimitAmount };
  const isOther = creditLimitAmount !== undefined && creditLimitAmount !== highCreditAmount;
  return {
    highCredit: isOther ? highCreditAmount : undefined,
    limit: creditLimitAmount ?? highCreditAmount,
  };
}

/** The late payments, the months reviewed, the earlier rates and the narratives of a trade. */
function noteOf({ words, formats }: Drawing, trade: Trade): CellText | undefined {
  const { labels, enumerations } = words;
  const counts = [trade.count30DaysPastDue, trade.count60DaysPastDue, trade.count90DaysPastDue];
  const daysPastDue = counts.every((count) => count === undefined)
    ? undefined
    : counts.map((count) => formats.number(count) ?? '–').join('/');
  const earlier = (trade.previousHighPaymentRates ?? []).map(({ rate, date }) =>
    join([wordOf(enumerations.paymentRate, rate), date && `(${formats.month(date)})`]),
  );
  const narratives = (trade.narratives ?? []).map((value) =>
    wordOf(enumerations.tradeNarrative, value),
  );
  const parts = [
    labelled(labels.daysPastDue, daysPastDue, words),
    labelled(labels.firstDelinquency, formats.dateOf(trade, 'dateFirstDelinquency'), words),
    labelled(labels.monthsReviewed, formats.number(trade.monthsReviewed), words),
    labelled(labels.previousRates, join(earlier, ', '), words),
    labelled(labels.narratives, join(narratives, ', '), words),
  ];
  return styled(join(parts, '  ·  '), 'muted');
}
