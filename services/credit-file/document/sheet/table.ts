/** Tables that continue on the next pages, with their header on each. */
import { LEFT, type Sheet, type Tag, WIDTH } from './sheet.ts';
import { COLORS, STYLES, type StyleName } from './styles.ts';

/** A text of a cell, on lines of its own. */
export type CellText = string | { text: string; style: StyleName };
export type Cell = readonly (CellText | undefined)[];

export interface Column {
  /** Its lines name what stands on the lines of the cells. */
  title: readonly string[];
  /** A share of the table's width: 2 is twice as wide as 1. */
  share: number;
  /** `right` is for amounts: their texts are not broken over lines, but printed smaller. */
  align?: 'right';
}

export interface Row {
  cells: readonly Cell[];
  /** Stands below the cells, over the table's whole width. */
  note?: Cell;
}

export interface Table {
  title: string;
  /** A table within a section has a smaller heading than a section. */
  level: Level;
  /** The title on the pages after the first. */
  continuedTitle: string;
  columns: readonly Column[];
  rows: readonly Row[];
}

export type Level = 'section' | 'part';

interface PlacedColumn {
  x: number;
  width: number;
  align: 'left' | 'right';
}
interface Line {
  text: string;
  style: StyleName;
}

const PADDING = 3;
/** All styles of cells have lines of this height, so that the lines of a row stand beside each other. */
const LINE_HEIGHT = STYLES.body.lineHeight;
/** The least height of the first part of a row that is broken over pages, in points. */
const MIN_PART = 200;
const TAGS = { section: 'H2', part: 'H3' } as const;

/** Draws a table with its heading. A row is only broken over pages if it is taller than a page. */
export function drawTable(sheet: Sheet, section: Tag, table: Table): void {
  const columns = placeColumns(table.columns);
  const headerHeight = heightOfHeader(sheet, table.columns, columns);
  const rows = table.rows.map((row) => layOutRow(sheet, row, columns));

  const wholePage = sheet.pageHeight - headingHeight(table.level) - headerHeight;
  const first = rows[0]?.height ?? 0;
  const firstPart = first <= wholePage ? first : MIN_PART;
  sheet.reserve(headingHeight(table.level) + headerHeight + firstPart);
  drawHeading(sheet, section, table.title, table.level);
  const tag = sheet.tag(section, 'Table');
  const header = sheet.tag(tag, 'TR');
  sheet.decorate(() => shadeHeader(sheet, headerHeight));
  drawHeader(sheet, table.columns, columns, (draw) =>
    sheet.tag(header, 'TH', draw, { scope: 'Column' }),
  );
  header.end();

  const continueOnNextPage = () => {
    sheet.startPage();
    sheet.decorate(() => {
      printHeading(sheet, table.continuedTitle, table.level);
      shadeHeader(sheet, headerHeight);
      drawHeader(sheet, table.columns, columns, (draw) => draw());
    }, 'Pagination');
  };
  for (const row of rows) {
    if (row.height > sheet.remaining && row.height <= wholePage) continueOnNextPage();
    drawRow(sheet, tag, row, columns, continueOnNextPage);
  }
  tag.end();
  sheet.y += 10;
}

export function drawHeading(sheet: Sheet, parent: Tag, title: string, level: Level): void {
  sheet.tag(parent, TAGS[level], () => printHeading(sheet, title, level)).end();
}

function printHeading(sheet: Sheet, title: string, level: Level): void {
  const style = level === 'section' ? 'heading' : 'subheading';
  sheet.print(sheet.fit(title, WIDTH, style), style, { x: LEFT, y: sheet.y, width: WIDTH });
  sheet.y += headingHeight(level);
}

function headingHeight(level: Level): number {
  return STYLES[level === 'section' ? 'heading' : 'subheading'].lineHeight + 4;
}

function placeColumns(columns: readonly Column[]): PlacedColumn[] {
  const shares = columns.reduce((sum, { share }) => sum + share, 0);
  let x = LEFT;
  return columns.map(({ share, align }) => {
    const width = (WIDTH * share) / shares;
    const column: PlacedColumn = {
      x: x + PADDING,
      width: width - 2 * PADDING,
      align: align ?? 'left',
    };
    x += width;
    return column;
  });
}

function headerLines(sheet: Sheet, column: Column, { width }: PlacedColumn): string[] {
  return column.title.flatMap((line) => sheet.lines(line, width, 'columnTitle'));
}

function heightOfHeader(
  sheet: Sheet,
  columns: readonly Column[],
  placed: readonly PlacedColumn[],
): number {
  const lines = columns.map((column, index) => {
    const place = placed[index];
    return place === undefined ? 0 : headerLines(sheet, column, place).length;
  });
  return Math.max(0, ...lines) * STYLES.columnTitle.lineHeight + 2 * PADDING;
}

function shadeHeader(sheet: Sheet, height: number): void {
  sheet.pdf.rect(LEFT, sheet.y, WIDTH, height).fill(COLORS.shade);
}

function drawHeader(
  sheet: Sheet,
  columns: readonly Column[],
  placed: readonly PlacedColumn[],
  drawCell: (draw: () => void) => void,
): void {
  const height = heightOfHeader(sheet, columns, placed);
  const { lineHeight } = STYLES.columnTitle;
  columns.forEach((column, index) => {
    const place = placed[index];
    if (place === undefined) return;
    drawCell(() => {
      headerLines(sheet, column, place).forEach((line, number) => {
        const y = sheet.y + PADDING + number * lineHeight;
        sheet.print(line, 'columnTitle', { ...place, y });
      });
    });
  });
  sheet.y += height;
}

interface LaidOutRow {
  cells: Line[][];
  note: Line[];
  height: number;
}

function layOutRow(sheet: Sheet, { cells, note = [] }: Row, columns: PlacedColumn[]): LaidOutRow {
  const cellLines = cells.map((cell, index) => {
    const column = columns[index];
    return linesOf(cell, (text, style) =>
      column?.align === 'right' ? [sheet.line(text)] : sheet.lines(text, column?.width ?? 0, style),
    );
  });
  const noteLines = linesOf(note, (text, style) => sheet.lines(text, WIDTH - 2 * PADDING, style));
  const count = Math.max(1, ...cellLines.map(({ length }) => length)) + noteLines.length;
  return { cells: cellLines, note: noteLines, height: count * LINE_HEIGHT + 2 * PADDING };
}

function linesOf(cell: Cell, breakText: (text: string, style: StyleName) => string[]): Line[] {
  return cell.flatMap((item) => {
    if (item === undefined) return [];
    const { text, style } =
      typeof item === 'string' ? { text: item, style: 'body' as const } : item;
    return breakText(text, style).map((line) => ({ text: line, style }));
  });
}

function drawRow(
  sheet: Sheet,
  table: Tag,
  row: LaidOutRow,
  columns: readonly PlacedColumn[],
  continueOnNextPage: () => void,
): void {
  sheet.y += PADDING;
  const tr = sheet.tag(table, 'TR');
  const cells = row.cells.map((lines, index) => ({
    tag: sheet.tag(tr, 'TD'),
    lines,
    column: columns[index],
  }));
  drawLines(sheet, cells, continueOnNextPage);
  tr.end();
  if (row.note.length > 0) {
    const noteRow = sheet.tag(table, 'TR');
    const tag = sheet.tag(noteRow, 'TD', undefined, { columns: columns.length });
    const column = { x: LEFT + PADDING, width: WIDTH - 2 * PADDING, align: 'left' as const };
    drawLines(sheet, [{ tag, lines: row.note, column }], continueOnNextPage);
    noteRow.end();
  }
  sheet.y += PADDING;
  sheet.decorate(() => {
    sheet.pdf
      .moveTo(LEFT, sheet.y)
      .lineTo(LEFT + WIDTH, sheet.y)
      .lineWidth(0.5)
      .stroke(COLORS.rule);
  });
}

/** Prints the lines of cells side by side, and goes on on the next page where they do not fit. */
function drawLines(
  sheet: Sheet,
  cells: readonly { tag: Tag; lines: Line[]; column: PlacedColumn | undefined }[],
  continueOnNextPage: () => void,
): void {
  const count = Math.max(0, ...cells.map(({ lines }) => lines.length));
  for (let printed = 0; printed < count; ) {
    if (sheet.remaining < LINE_HEIGHT) continueOnNextPage();
    const fitting = Math.min(count - printed, Math.floor(sheet.remaining / LINE_HEIGHT));
    for (const { tag, lines, column } of cells) {
      const part = lines.slice(printed, printed + fitting);
      if (part.length === 0 || column === undefined) continue;
      tag.add(() => {
        part.forEach(({ text, style }, number) => {
          sheet.print(text, style, { ...column, y: sheet.y + number * LINE_HEIGHT });
        });
      });
    }
    sheet.y += fitting * LINE_HEIGHT;
    printed += fitting;
  }
}
