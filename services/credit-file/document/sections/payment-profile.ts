/** The payment profile of an account, as a strip of one cell for each month. */
import type { PaymentRate, Trade } from '../../credit-file.ts';
import { listProfile, type ProfileMonth } from '../figures/payment-profile.ts';
import { lateness } from '../figures/payment-rates.ts';
import { LEFT } from '../sheet/sheet.ts';
import { COLORS, STYLES, type StyleName } from '../sheet/styles.ts';
import type { RowFigure } from '../sheet/table.ts';
import { type Drawing, join, labelled, wordOf } from './drawing.ts';

/** The signs that both bureaus use; a legend above the accounts says what they mean. */
const RATE_SIGNS: Record<PaymentRate, string> = {
  TOO_NEW_TO_RATE: '0',
  PAID_AS_AGREED_AND_UP_TO_DATE: '1',
  NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE: '2',
  NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE: '3',
  THREE_OR_MORE_PAYMENTS_PAST_DUE: '4',
  AT_LEAST_120_DAYS_OVERDUE_BUT_NOT_RATED_9: '5',
  MAKING_REGULAR_PAYMENTS_UNDER_CONSOLIDATION_ORDER: '7',
  REPOSSESSION: '8',
  BAD_DEBT_PLACED_FOR_COLLECTION: '9',
};
const STATUS_SIGNS: Record<NonNullable<Trade['status']>, string> = {
  ACCOUNT_IS_INACTIVE: 'A',
  LOST_OR_STOLEN_CARD: 'B',
  CONTACT_MEMBER_FOR_RATE: 'C',
  ADJUSTMENT_PENDING: 'J',
  DISPUTE_RESOLUTION_PENDING: 'S',
};
const SIGNS = new Map<string | undefined, string>(
  Object.entries({ ...RATE_SIGNS, ...STATUS_SIGNS }),
);
const CELL = { width: 9.5, height: 9 };
const MONTH_WIDTH = 42;
const LABEL_WIDTH = 74;

/** The months that follow each other with the same rate or status. */
interface Run {
  first: ProfileMonth;
  last: ProfileMonth;
  length: number;
}

/** The strip of a trade's profile, oldest month at the left; undefined without a profile. */
export function profileFigure(drawing: Drawing, trade: Trade): RowFigure | undefined {
  const runs = runsOf(listProfile(trade));
  const [oldest, newest] = [runs[0]?.first.month, runs.at(-1)?.last.month];
  if (oldest === undefined || newest === undefined) return undefined;
  const { sheet, words, formats } = drawing;
  const { paymentProfile } = words.labels;
  const describe = ({ first, last, length }: Run) => {
    const [from, to] = [formats.month(first.month), formats.month(last.month)];
    return labelled(length === 1 ? from : `${from} – ${to}`, wordsOf(first, words), words);
  };
  return {
    height: CELL.height + 3,
    alt: labelled(paymentProfile, runs.map(describe).join('; '), words),
    draw: (top) => {
      const textTop = top + (CELL.height - STYLES.small.lineHeight) / 2;
      const text = { y: textTop, width: MONTH_WIDTH };
      sheet.print(paymentProfile, 'small', { ...text, x: LEFT + 3 });
      let x = LEFT + 3 + LABEL_WIDTH;
      sheet.print(formats.month(oldest), 'small', { ...text, x, align: 'right' });
      x += MONTH_WIDTH + 4;
      for (const run of runs) {
        drawRun(drawing, run, x, top);
        x += run.length * CELL.width;
      }
      if (newest === oldest) return;
      sheet.print(formats.month(newest), 'small', { ...text, x: x + 4 });
    },
  };
}

/** What the signs of the profiles of these trades mean; undefined if none has a profile. */
export function profileLegend({ words }: Drawing, trades: readonly Trade[]): string | undefined {
  const months = trades.flatMap(listProfile);
  const signs = new Map(months.map((month) => [signOf(month), wordsOf(month, words)]));
  const meanings = [...signs].sort().map(([sign, meaning]) => `${sign}\u00a0=\u00a0${meaning}`);
  return labelled(words.labels.paymentProfileLegend, join(meanings, ' · '), words);
}

function drawRun({ sheet }: Drawing, { first, length }: Run, x: number, y: number): void {
  const { pdf } = sheet;
  const { fill, style } = lookOf(first);
  const width = length * CELL.width;
  pdf.rect(x, y, width, CELL.height).fill(fill);
  for (let edge = 1; edge <= length; edge += 1) {
    const at = x + edge * CELL.width;
    pdf.moveTo(at, y).lineTo(at, y + CELL.height);
  }
  pdf.lineWidth(0.8).stroke('#ffffff');
  const top = y + (CELL.height - STYLES[style].lineHeight) / 2;
  const sign = signOf(first);
  // One text for the whole run, each sign in the middle of its cell.
  const spacing = CELL.width - sheet.widthOf(sign, style);
  sheet.print(sign.repeat(length), style, { x: x + spacing / 2, y: top, width, spacing });
}

function lookOf({ rate, status }: ProfileMonth): { fill: string; style: StyleName } {
  const late = rate && lateness(rate);
  if (late !== undefined) {
    return { fill: COLORS.late[late], style: late === 'severe' ? 'signOnDark' : 'sign' };
  }
  if (rate === 'PAID_AS_AGREED_AND_UP_TO_DATE') return { fill: COLORS.punctual, style: 'sign' };
  return { fill: rate || status ? COLORS.rule : COLORS.shade, style: 'sign' };
}

function signOf({ rate, status }: ProfileMonth): string {
  return SIGNS.get(rate ?? status) ?? '–';
}

function wordsOf({ rate, status }: ProfileMonth, words: Drawing['words']): string {
  const { shortPaymentRate, enumerations, labels } = words;
  return (
    wordOf(shortPaymentRate, rate) ?? wordOf(enumerations.tradeStatus, status) ?? labels.notRated
  );
}

function runsOf(months: readonly ProfileMonth[]): Run[] {
  const runs: Run[] = [];
  for (const month of months) {
    const run = runs.at(-1);
    if (run !== undefined && run.first.rate === month.rate && run.first.status === month.status) {
      run.last = month;
      run.length += 1;
    } else {
      runs.push({ first: month, last: month, length: 1 });
    }
  }
  return runs;
}
