/** The charts of the summary: accounts by present payment rate, and late payments by month. */
import {
  countLateMonths,
  type LateCounts,
  type LateMonths,
  totalLate,
} from '../figures/late-months.ts';
import { countPresentRates, type Lateness, lateness } from '../figures/payment-rates.ts';
import { LEFT, type Tag, WIDTH } from '../sheet/sheet.ts';
import { COLORS, STYLES } from '../sheet/styles.ts';
import { type Drawing, join, labelled, wordOf } from './drawing.ts';

const PANEL_WIDTH = (WIDTH - 24) / 2;
const ROW_HEIGHT = 13;
const TITLE_HEIGHT = 15;
const PLOT_HEIGHT = 58;
const LEGEND_HEIGHT = 3 * STYLES.small.lineHeight;
const LATENESSES: readonly Lateness[] = ['one', 'two', 'severe'];

/** Draws both charts side by side. */
export function drawCharts(drawing: Drawing, section: Tag): void {
  const { sheet } = drawing;
  const rates = countPresentRates(drawing.file.trades ?? []);
  const history = countLateMonths(drawing.file.trades ?? [], lastDateOf(drawing));
  const isPunctual = [history.before, ...history.months].every((counts) => totalLate(counts) === 0);
  const height =
    TITLE_HEIGHT +
    Math.max(rates.length * ROW_HEIGHT, isPunctual ? 0 : PLOT_HEIGHT + 26 + LEGEND_HEIGHT);
  sheet.reserve(height + 10);
  sheet.y += 4;
  drawPresentRates(drawing, section, rates, height);
  drawLateMonths(drawing, section, history, height);
  sheet.y += height + 8;
}

/** Draws a bar for each rate that accounts have now. */
function drawPresentRates(
  { sheet, words, formats }: Drawing,
  section: Tag,
  rates: ReturnType<typeof countPresentRates>,
  height: number,
): void {
  const { labels, shortPaymentRate } = words;
  const rows = rates.map(({ rate, accounts }) => ({
    word: wordOf(shortPaymentRate, rate) ?? labels.notRated,
    color: barColor(rate),
    accounts,
  }));
  const most = Math.max(...rows.map(({ accounts }) => accounts));
  const wordWidth = 108;
  const barWidth = PANEL_WIDTH - wordWidth - 28;
  const draw = () => {
    printTitle(sheet, labels.presentRates, LEFT);
    rows.forEach(({ word, color, accounts }, index) => {
      const y = sheet.y + TITLE_HEIGHT + index * ROW_HEIGHT;
      const length = Math.max(1, (barWidth * accounts) / most);
      const line = sheet.fit(word, wordWidth - 6, 'body');
      sheet.print(line, 'body', { x: LEFT, y, width: wordWidth });
      sheet.pdf.rect(LEFT + wordWidth, y + 1.5, length, ROW_HEIGHT - 5).fill(color);
      const x = LEFT + wordWidth + length + 5;
      sheet.print(formats.number(accounts), 'strong', { x, y, width: 30 });
    });
  };
  const values = rows.map(({ word, accounts }) => `${word} ${accounts}`);
  const alt = labelled(labels.presentRates, values.join(', '), words);
  sheet.tag(section, 'Figure', draw, { alt, bbox: boxAt(LEFT, sheet.y, height) }).end();
}

function barColor(rate: Parameters<typeof lateness>[0] | undefined): string {
  if (rate === undefined || rate === 'TOO_NEW_TO_RATE') return COLORS.rule;
  const late = lateness(rate);
  return late === undefined ? COLORS.accent : COLORS.late[late];
}

/** Draws a column of late payments for each of the last months, and one for the time before. */
function drawLateMonths(
  drawing: Drawing,
  section: Tag,
  { before, months }: LateMonths,
  height: number,
): void {
  const { sheet, words, formats } = drawing;
  const { labels } = words;
  const left = LEFT + PANEL_WIDTH + 24;
  const columns = [{ month: undefined, ...before }, ...months];
  const late = columns.filter((counts) => totalLate(counts) > 0);
  const draw = () => {
    printTitle(sheet, labels.lateByMonth, left);
    if (late.length === 0) {
      const y = sheet.y + TITLE_HEIGHT;
      sheet.print(labels.noLatePayments, 'body', { x: left, y, width: PANEL_WIDTH });
      return;
    }
    drawColumns(drawing, left, columns);
    drawLegend(drawing, left, sheet.y + TITLE_HEIGHT + PLOT_HEIGHT + 24);
  };
  const values = late.map((counts) => {
    const month = counts.month === undefined ? labels.earlier : formats.month(counts.month);
    return `${month} ${totalLate(counts)}`;
  });
  const history = join(values, ', ') ?? labels.noLatePayments;
  const alt = labelled(labels.lateByMonth, history, words);
  sheet.tag(section, 'Figure', draw, { alt, bbox: boxAt(left, sheet.y, height) }).end();
}

/** The file's date, or the last date on which an account was reported. */
function lastDateOf({ file }: Drawing): string {
  const reported = (file.trades ?? []).map(({ dateReported }) => dateReported ?? '').sort();
  return file.requestedDate ?? reported.at(-1) ?? '';
}

function drawColumns(
  { sheet, words, formats }: Drawing,
  left: number,
  columns: readonly (LateCounts & { month: string | undefined })[],
): void {
  const { pdf } = sheet;
  const base = sheet.y + TITLE_HEIGHT + 10 + PLOT_HEIGHT;
  const step = PANEL_WIDTH / (columns.length + 1);
  const most = Math.max(...columns.map(totalLate));
  columns.forEach((counts, index) => {
    // The column for the time before stands apart from the months.
    const x = left + step * (index === 0 ? 0 : index + 1);
    let y = base;
    for (const late of LATENESSES) {
      const height = (PLOT_HEIGHT * counts[late]) / most;
      y -= height;
      if (height > 0) pdf.rect(x + 1, y, step - 2, height).fill(COLORS.late[late]);
    }
    const total = totalLate(counts);
    const place = { x: x - 10, y: y - 9.5, width: step + 20, align: 'center' as const };
    if (total > 0) sheet.print(formats.number(total), 'small', place);
  });
  pdf
    .moveTo(left, base)
    .lineTo(left + PANEL_WIDTH, base)
    .lineWidth(0.7)
    .stroke(COLORS.muted);

  const y = base + 2;
  sheet.print(words.labels.earlier, 'small', { x: left, y, width: 40 });
  const [first, last] = [columns[1]?.month ?? '', columns.at(-1)?.month ?? ''];
  const months = { x: left + 2 * step, y, width: PANEL_WIDTH - 2 * step };
  const firstX = Math.max(months.x, left + sheet.widthOf(words.labels.earlier, 'small') + 8);
  sheet.print(formats.month(first), 'small', { ...months, x: firstX });
  sheet.print(formats.month(last), 'small', { ...months, align: 'right' });
}

function drawLegend({ sheet, words }: Drawing, left: number, top: number): void {
  const { labels } = words;
  const texts = { one: labels.oneLate, two: labels.twoLate, severe: labels.threeLate };
  LATENESSES.forEach((late, index) => {
    const y = top + index * STYLES.small.lineHeight;
    sheet.pdf.rect(left, y + 2, 6, 6).fill(COLORS.late[late]);
    sheet.print(texts[late], 'small', { x: left + 10, y, width: PANEL_WIDTH - 10 });
  });
}

function printTitle(sheet: Drawing['sheet'], title: string, x: number): void {
  const line = sheet.fit(title, PANEL_WIDTH, 'subheading');
  sheet.print(line, 'subheading', { x, y: sheet.y, width: PANEL_WIDTH });
}

function boxAt(x: number, y: number, height: number): [number, number, number, number] {
  return [x, y, x + PANEL_WIDTH, y + height];
}
