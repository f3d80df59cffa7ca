/** The first section of a document: what needs attention, scores, figures and the payment history. */
import { totalAccounts } from '../figures/account-totals.ts';
import { countEntries, type EntryCounts } from '../figures/entry-counts.ts';
import { lateness, totalDaysPastDue, worstRates } from '../figures/payment-rates.ts';
import type { Tag } from '../sheet/sheet.ts';
import { drawHeading } from '../sheet/table.ts';
import { drawAlsoReported, drawAttention } from './attention.ts';
import { drawCharts } from './charts.ts';
import { type Drawing, join, wordOf } from './drawing.ts';
import { drawFacts, type Fact } from './facts.ts';
import { drawScores } from './scores.ts';

export function drawSummary(drawing: Drawing, root: Tag): void {
  const { sheet, words, file } = drawing;
  const section = sheet.tag(root, 'Sect');
  drawHeading(sheet, section, words.labels.summary, 'section');
  const counts = countEntries(file);
  drawAttention(drawing, section, counts);
  drawAlsoReported(drawing, section);
  drawScores(drawing, section);
  const { trades, collections, bankruptcies, legalItems, securedLoans, inquiries } = counts;
  if (trades + collections + bankruptcies + legalItems + securedLoans + inquiries > 0) {
    drawFacts(sheet, section, [...accountFacts(drawing), ...countFacts(drawing, counts)]);
  }
  if (trades > 0) {
    drawCharts(drawing, section);
    sheet.paragraph(section, figuresNote(drawing), 'small');
  }
  sheet.y += 10;
  section.end();
}

function accountFacts({ file, words, formats }: Drawing): Fact[] {
  const { labels, shortPaymentRate } = words;
  const trades = file.trades ?? [];
  const totals = totalAccounts(trades);
  const worst = worstRates(trades);
  const oldest = trades
    .filter(({ dateOpened }) => dateOpened)
    .toSorted((one, other) => ((one.dateOpened ?? '') < (other.dateOpened ?? '') ? -1 : 1))[0];
  const { utilisation } = totals;
  const rateFact = (label: string, rate: typeof worst.ever): Fact => ({
    label,
    value: wordOf(shortPaymentRate, rate),
    style: rate && lateness(rate) ? 'alert' : 'strong',
  });
  return [
    { label: labels.totalBalance, value: formats.money(totals.balance), style: 'figure' },
    { label: labels.pastDue, value: formats.money(totals.pastDue), style: 'figure' },
    { label: labels.creditLimits, value: formats.money(totals.limits), style: 'figure' },
    {
      label: labels.utilisation,
      value: utilisation && formats.percentage(utilisation.used / utilisation.limits),
      detail:
        utilisation &&
        words.usedOf(formats.money(utilisation.used), formats.money(utilisation.limits)),
      style: 'figure',
    },
    {
      label: labels.monthlyPayments,
      value: formats.money(totals.monthlyPayments),
      style: 'figure',
    },
    rateFact(labels.worstRateNow, worst.present),
    rateFact(labels.worstRateEver, worst.ever),
    { label: labels.oldestAccount, value: formats.dateOf(oldest, 'dateOpened'), style: 'strong' },
  ];
}

function countFacts({ file, words, formats }: Drawing, counts: EntryCounts): Fact[] {
  const { labels } = words;
  const number = (value: number) => formats.number(value);
  const daysPastDue = totalDaysPastDue(file.trades ?? []);
  return [
    {
      label: labels.accounts,
      value: number(counts.trades),
      detail: counts.trades > 0 ? words.open(number(counts.openTrades)) : undefined,
      style: 'figure',
    },
    {
      label: labels.collections,
      value: number(counts.collections),
      detail: counts.collections > 0 ? words.unpaid(number(counts.unpaidCollections)) : undefined,
      style: 'figure',
    },
    {
      label: labels.bankruptcies,
      value: number(counts.bankruptcies),
      detail: counts.bankruptcies > 0 ? words.active(number(counts.activeBankruptcies)) : undefined,
      style: 'figure',
    },
    {
      label: labels.inquiries,
      value: number(counts.inquiries),
      detail: join(
        [
          counts.inquiries > 0 && counts.recentInquiries !== undefined
            ? words.lastTwelveMonths(number(counts.recentInquiries))
            : undefined,
          counts.consumerInquiries > 0
            ? words.byConsumer(number(counts.consumerInquiries))
            : undefined,
        ],
        '; ',
      ),
      style: 'figure',
    },
    {
      label: labels.legalItems,
      value: number(counts.legalItems),
      detail:
        counts.legalItems > 0 ? words.unsettled(number(counts.unsettledLegalItems)) : undefined,
      style: 'figure',
    },
    { label: labels.securedLoans, value: number(counts.securedLoans), style: 'figure' },
    {
      label: labels.daysPastDue,
      value: daysPastDue && join(daysPastDue.map(number), '/'),
      style: 'figure',
    },
  ];
}

function figuresNote({ file, words, formats }: Drawing): string {
  const { usDollars } = totalAccounts(file.trades ?? []);
  if (usDollars.accounts === 0) return words.labels.figuresNote;
  const balance = formats.money(usDollars.balance, 'USD');
  const excluded = words.usDollarAccounts(formats.number(usDollars.accounts), balance);
  return `${words.labels.figuresNote} ${excluded}.`;
}
