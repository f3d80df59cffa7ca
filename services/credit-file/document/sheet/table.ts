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
  /** Stands below the note. */
  figure?: RowFigure | undefined;
}

export interface RowFigure {
  /** In points, less than a page. */
  height: number;
  /** What it shows, for screen readers. */
  alt: string;
  draw(top: number): void;
}

export interface Table {
  title: string;
  /** Explains the rows, between the heading and the header. */
  legend?: string | undefined;
  /** A table within a section has a smaller heading than a section. */
  level: Level;
  /** The title on the pages after the first. */
  continuedTitle: string;
  columns: readonly Column[];
  rows: readonly Row[];
}

export type Level = 'section' | 'part';

/** A column with its place on the page, and the lines of its title. */
interface PlacedColumn {
  title: readonly string[];
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
  const columns = placeColumns(sheet, table.columns);
  const titleLines = Math.max(0, ...columns.map(({ title }) => title.length));
  const headerHeight = titleLines * STYLES.columnTitle.lineHeight + 2 * PADDING;
  const rows = table.rows.map((row) => layOutRow(sheet, row, columns));

  const wholePage = sheet.pageHeight - headingHeight(table.level) - headerHeight;
  const first = rows[0]?.height ?? 0;
  const firstPart = first <= wholePage ? first : MIN_PART;
  const legend = table.legend ?? '';
  const legendLines = sheet.lines(legend, WIDTH, 'small').length;
  const legendHeight = legendLines === 0 ? 0 : legendLines * STYLES.small.lineHeight + PADDING;
  sheet.reserve(headingHeight(table.level) + legendHeight + headerHeight + firstPart);
  drawHeading(sheet, section, table.title, table.level);
  if (legendLines > 0) {
    sheet.paragraph(section, legend, 'small');
    sheet.y += PADDING;
  }
  const tag = sheet.tag(section, 'Table');
  const header = sheet.tag(tag, 'TR');
  sheet.decorate(() => shadeHeader(sheet, headerHeight));
  drawHeader(sheet, columns, (draw) => sheet.tag(header, 'TH', draw, { scope: 'Column' }));
  sheet.y += headerHeight;
  header.end();

  const continueOnNextPage = () => {
    sheet.startPage();
    sheet.decorate(() => {
      printHeading(sheet, table.continuedTitle, table.level);
      shadeHeader(sheet, headerHeight);
      drawHeader(sheet, columns, (draw) => draw());
      sheet.y += headerHeight;
    }, 'Pagination');
  };
  for (const row of rows) {
    if (row.height > sheet.remaining && row.height <= wholePage) continueOnNextPage();
    drawRow(sheet, tag, row, continueOnNextPage);
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

function placeColumns(sheet: Sheet, columns: readonly Column[]): PlacedColumn[] {
  const shares = columns.reduce((sum, { share }) => sum + share, 0);
  let left = LEFT;
  return columns.map(({ title, share, align }) => {
    const x = left + PADDING;
    const width = (WIDTH * share) / shares - 2 * PADDING;
    left = x + width + PADDING;
    const lines = title.flatMap((line) => sheet.lines(line, width, 'columnTitle'));
    return { title: lines, x, width, align: align ?? 'left' };
  });
}

function shadeHeader(sheet: Sheet, height: number): void {
  sheet.pdf.rect(LEFT, sheet.y, WIDTH, height).fill(COLORS.shade);
}

function drawHeader(
  sheet: Sheet,
  columns: readonly PlacedColumn[],
  drawCell: (draw: () => void) => void,
): void {
  const { lineHeight } = STYLES.columnTitle;
  for (const { title, ...place } of columns) {
    drawCell(() => {
      title.forEach((line, number) => {
        const y = sheet.y + PADDING + number * lineHeight;
        sheet.print(line, 'columnTitle', { ...place, y });
      });
    });
  }
}

interface LaidOutCell {
  lines: Line[];
  place: Omit<PlacedColumn, 'title'>;
}

interface LaidOutRow {
  cells: LaidOutCell[];
  note: LaidOutCell;
  figure: RowFigure | undefined;
  height: number;
}

/** Of a row's note. */
const WHOLE_WIDTH = { x: LEFT + PADDING, width: WIDTH - 2 * PADDING, align: 'left' } as const;

function layOutRow(sheet: Sheet, row: Row, columns: readonly PlacedColumn[]): LaidOutRow {
  const cells = columns.map((column, index) => layOutCell(sheet, row.cells[index] ?? [], column));
  const note = layOutCell(sheet, row.note ?? [], WHOLE_WIDTH);
  const count = Math.max(1, ...cells.map(({ lines }) => lines.length)) + note.lines.length;
  const { figure } = row;
  const height = count * LINE_HEIGHT + 2 * PADDING + (figure?.height ?? 0);
  return { cells, note, figure, height };
}

function layOutCell(sheet: Sheet, cell: Cell, place: LaidOutCell['place']): LaidOutCell {
  const lines = cell.flatMap((item) => {
    if (item === undefined) return [];
    const { text, style } =
      typeof item === 'string' ? { text: item, style: 'body' as const } : item;
    const texts =
      place.align === 'right' ? [sheet.line(text)] : sheet.lines(text, place.width, style);
    return texts.map((line) => ({ text: line, style }));
  });
  return { lines, place };
}

function drawRow(
  sheet: Sheet,
  table: Tag,
  { cells, note, figure }: LaidOutRow,
  continueOnNextPage: () => void,
): void {
  sheet.y += PADDING;
  const row = sheet.tag(table, 'TR');
  const tagged = cells.map((cell) => ({ ...cell, tag: sheet.tag(row, 'TD') }));
  drawLines(sheet, tagged, continueOnNextPage);
  row.end();
  if (note.lines.length > 0) {
    const noteRow = sheet.tag(table, 'TR');
    const tag = sheet.tag(noteRow, 'TD', undefined, { columns: cells.length });
    drawLines(sheet, [{ ...note, tag }], continueOnNextPage);
    noteRow.end();
  }
  if (figure !== undefined) {
    if (sheet.remaining < figure.height) continueOnNextPage();
    drawFigure(sheet, table, figure, cells.length);
  }
  sheet.y += PADDING;
  sheet.decorate(() => sheet.rule(sheet.y));
}

function drawFigure(sheet: Sheet, table: Tag, figure: RowFigure, columns: number): void {
  const { alt, height } = figure;
  const top = sheet.y;
  const row = sheet.tag(table, 'TR');
  const cell = sheet.tag(row, 'TD', undefined, { columns });
  const bbox: [number, number, number, number] = [LEFT, top, LEFT + WIDTH, top + height];
  sheet.tag(cell, 'Figure', () => figure.draw(top), { alt, bbox }).end();
  row.end();
  sheet.y += height;
}

/** Prints the lines of cells side by side, and goes on on the next page where they do not fit. */
function drawLines(
  sheet: Sheet,
  cells: readonly (LaidOutCell & { tag: Tag })[],
  continueOnNextPage: () => void,
): void {
  const count = Math.max(0, ...cells.map(({ lines }) => lines.length));
  for (let printed = 0; printed < count; ) {
    if (sheet.remaining < LINE_HEIGHT) continueOnNextPage();
    const fitting = Math.min(count - printed, Math.floor(sheet.remaining / LINE_HEIGHT));
    for (const { tag, lines, place } of cells) {
      const part = lines.slice(printed, printed + fitting);
      if (part.length === 0) continue;
      tag.add(() => {
        part.forEach(({ text, style }, number) => {
          sheet.print(text, style, { ...place, y: sheet.y + number * LINE_HEIGHT });
        });
      });
    }
    sheet.y += fitting * LINE_HEIGHT;
    printed += fitting;
  }
}
