/** Labels with their values in a grid, as the head of a document and its summary have them. */
import { LEFT, type Sheet, type Tag, WIDTH } from '../sheet/sheet.ts';
import { STYLES, type StyleName } from '../sheet/styles.ts';

export interface Fact {
  label: string;
  value: string | undefined;
  /** A line in small type below the value. */
  detail?: string | undefined;
  style?: StyleName;
}

const PER_ROW = 4;
const GAP = 10;
const FACT_WIDTH = (WIDTH - (PER_ROW - 1) * GAP) / PER_ROW;

/** Draws the facts, four in each row. A fact without a value gets a dash. */
export function drawFacts(sheet: Sheet, section: Tag, facts: readonly Fact[]): void {
  for (let first = 0; first < facts.length; first += PER_ROW) {
    const row = facts.slice(first, first + PER_ROW).map((fact) => layOutFact(sheet, fact));
    const height = Math.max(...row.map(({ height }) => height));
    sheet.reserve(height);
    row.forEach(({ lines }, index) => {
      const x = LEFT + index * (FACT_WIDTH + GAP);
      sheet
        .tag(section, 'P', () => {
          for (const { text, style, offset } of lines) {
            sheet.print(text, style, { x, y: sheet.y + offset, width: FACT_WIDTH });
          }
        })
        .end();
    });
    sheet.y += height + 5;
  }
}

function layOutFact(sheet: Sheet, { label, value, detail, style = 'body' }: Fact) {
  const texts: [string, StyleName][] = [
    [label, 'small'],
    [value ?? '–', style],
    [detail ?? '', 'small'],
  ];
  let height = 0;
  const lines = texts.flatMap(([text, textStyle]) =>
    sheet.lines(text, FACT_WIDTH, textStyle).map((line) => {
      const offset = height;
      height += STYLES[textStyle].lineHeight;
      return { text: line, style: textStyle, offset };
    }),
  );
  return { lines, height };
}
