/** The scores of a file, with their place on the range and their reasons. */
import type { CreditFile } from '../../credit-file.ts';
import { HIGHEST_SCORE, LOWEST_SCORE, positionOnScale } from '../figures/score-scale.ts';
import { LEFT, type Tag, WIDTH } from '../sheet/sheet.ts';
import { COLORS, STYLES, type StyleName } from '../sheet/styles.ts';
import type { Words } from '../words/words.ts';
import { type Drawing, join, labelled, spokenCode } from './drawing.ts';

type Score = NonNullable<CreditFile['scores']>[number];

const VALUE_WIDTH = 150;
const SCALE_HEIGHT = 7;

export function drawScores(drawing: Drawing, section: Tag): void {
  const { file, sheet, words } = drawing;
  if (!file.scores?.length) {
    sheet.paragraph(section, words.labels.noScore, 'muted');
    sheet.y += 4;
    return;
  }
  for (const score of file.scores) drawScore(drawing, section, score);
}

/** Draws a score's value on its range at the left, and what the bureau says of it at the right. */
function drawScore(drawing: Drawing, section: Tag, score: Score): void {
  const { sheet, words } = drawing;
  const { labels } = words;
  const { number } = score;
  const position = number === undefined ? undefined : positionOnScale(number);
  const value = number?.toString() ?? '–';
  // A value such as "N/A" is no number: it stands beside the dash, however long it is.
  const otherValue = number === undefined ? join([score.sign, score.value], '') : undefined;
  const valueHeight = STYLES.score.lineHeight + (position === undefined ? 6 : 34);
  sheet.reserve(Math.max(valueHeight, 70));
  const top = sheet.y;
  const drawValue = () => {
    const line = sheet.fit(value, VALUE_WIDTH, 'score');
    sheet.print(line, 'score', { x: LEFT, y: top, width: VALUE_WIDTH });
  };
  sheet.tag(section, 'P', drawValue).end();
  if (position !== undefined) drawScale(drawing, section, value, position);

  const texts: [string | undefined, StyleName][] = [
    [labelled(labels.score, otherValue, words) ?? labels.score, 'subheading'],
    ...(score.narratives ?? []).map((text): [string, StyleName] => [
      spokenCode(text, words.product),
      'body',
    ]),
    [score.reasons?.length ? labels.reasons : undefined, 'small'],
    ...(score.reasons ?? []).map((text): [string, StyleName] => [
      `• ${text.replace(/^(?:factor )?(\d+)$/, (_, code) => words.factor(code))}`,
      'body',
    ]),
    [labelled(labels.rejectReasons, join(listRejectReasons(score, words), '; '), words), 'body'],
  ];
  drawTexts(drawing, section, texts);
  // The value is on the page before, where the texts have started a new one.
  const isOnNextPage = sheet.y < top;
  sheet.y = (isOnNextPage ? sheet.y : Math.max(sheet.y, top + valueHeight)) + 6;
}

/** Why there is no score: in words, as far as the bureau gives any. */
function listRejectReasons({ rejectCodes = [], rejectReasons }: Score, words: Words): string[] {
  const reasons: typeof rejectReasons = rejectReasons ?? rejectCodes.map((code) => ({ code }));
  return reasons.map(({ code, text }) => text ?? (code === undefined ? '–' : words.code(code)));
}

/** Prints the texts beside the value, and on the next page where they do not fit. */
function drawTexts(
  { sheet }: Drawing,
  section: Tag,
  texts: readonly (readonly [string | undefined, StyleName])[],
): void {
  const x = LEFT + VALUE_WIDTH + 20;
  const width = WIDTH - VALUE_WIDTH - 20;
  for (const [text, style] of texts) {
    const tag = sheet.tag(section, 'P');
    for (const line of sheet.lines(text ?? '', width, style)) {
      const { lineHeight } = STYLES[style];
      sheet.reserve(lineHeight);
      tag.add(() => sheet.print(line, style, { x, y: sheet.y, width }));
      sheet.y += lineHeight;
    }
    tag.end();
  }
}

/** Draws the range as a bar of four parts, with a pointer at the score. */
function drawScale({ sheet, words }: Drawing, section: Tag, value: string, position: number): void {
  const y = sheet.y + STYLES.score.lineHeight;
  const options = {
    alt: `${value}. ${words.labels.scoreRange}.`,
    bbox: [LEFT, y, LEFT + VALUE_WIDTH, y + 30] as [number, number, number, number],
  };
  const draw = () => {
    const { pdf } = sheet;
    const shades = ['#c9cfda', '#a9bddb', '#6c92c6', '#23508f'];
    const part = VALUE_WIDTH / shades.length;
    const barTop = y + 8;
    shades.forEach((shade, index) => {
      pdf.rect(LEFT + index * part, barTop, part - 1, SCALE_HEIGHT).fill(shade);
    });
    const x = LEFT + position * VALUE_WIDTH;
    pdf.polygon([x - 4, y], [x + 4, y], [x, barTop + 2]).fill(COLORS.ink);
    const place = { x: LEFT, y: barTop + SCALE_HEIGHT + 2, width: VALUE_WIDTH };
    sheet.print(String(LOWEST_SCORE), 'small', place);
    sheet.print(String(HIGHEST_SCORE), 'small', { ...place, align: 'right' });
  };
  sheet.tag(section, 'Figure', draw, options).end();
}
