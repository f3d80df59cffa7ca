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

const GAP = 10;

/** Draws the facts, `perRow` in each row. A fact without a value gets a dash. */
export function drawFacts(sheet: Sheet, section: Tag, facts: readonly Fact[], perRow = 4): void {
  const width = (WIDTH - (perRow - 1) * GAP) / perRow;
  for (let first = 0; first < facts.length; first += perRow) {
    const row = facts.slice(first, first + perRow).map((fact) => layOutFact(sheet, fact, width));
    const height = Math.max(...row.map(({ height }) => height));
    sheet.reserve(height);
    row.forEach(({ lines }, index) => {
      const x = LEFT + index * (width + GAP);
      sheet
        .tag(section, 'P', () => {
          for (const { text, style, offset } of lines) {
            sheet.print(text, style, { x, y: sheet.y + offset, width });
          }
        })
        .end();
    });
    sheet.y += height + 5;
  }
}

function layOutFact(sheet: Sheet, { label, value, detail, style = 'body' }: Fact, width: number) {
  const texts: [string, StyleName][] = [
    [label, 'small'],
    [value ?? '–', style],
    [detail ?? '', 'small'],
  ];
  let height = 0;
  const lines = texts.flatMap(([text, textStyle]) =>
    sheet.lines(text, width, textStyle).map((line) => {
      const offset = height;
      height += STYLES[textStyle].lineHeight;
      return { text: line, style: textStyle, offset };
    }),
  );
  return { lines, height };
}
