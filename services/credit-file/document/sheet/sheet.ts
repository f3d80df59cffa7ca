/** The pages of a document: where the next line goes, its text, and the tags that screen readers use. */
import PDFDocument from 'pdfkit';
import { FONTS, hasGlyph } from './fonts.ts';
import { printable } from './printable.ts';
import { COLORS, STYLES, type StyleName } from './styles.ts';
import { breakLines, fitLine } from './text-lines.ts';

export type Tag = ReturnType<PDFKit.PDFDocument['struct']>;

/** Letter, as printers in Canada have it, in points. */
const PAGE = { width: 612, height: 792 };
export const LEFT = 40;
export const WIDTH = PAGE.width - 2 * LEFT;
export const TOP = 62;
const BOTTOM = PAGE.height - 52;
/** The most lines of a paragraph that is not broken over pages. */
const KEPT_TOGETHER = 5;

/** Where a line of text goes; `align` is that within `width`. */
interface Place {
  x: number;
  y: number;
  width: number;
  align?: 'left' | 'right' | 'center';
  /** Points between the characters. */
  spacing?: number;
}

interface SheetOptions {
  title: string;
  /** BCP 47 tag. */
  language: string;
  /** The date of the document, which is not that of its rendering: the same file gives the same bytes. */
  date: Date;
}

export class Sheet {
  /** Where the next line begins, from the top of the page. */
  y = TOP;
  readonly root: Tag;
  readonly pdf: PDFKit.PDFDocument;
  readonly #chunks: Uint8Array[] = [];

  constructor({ title, language, date }: SheetOptions) {
    this.pdf = new PDFDocument({
      size: [PAGE.width, PAGE.height],
      margin: 0,
      pdfVersion: '1.7',
      lang: language,
      tagged: true,
      displayTitle: true,
      // Page numbers name the number of pages, so they are printed last.
      bufferPages: true,
      autoFirstPage: false,
      info: { Title: title, Creator: 'Creditlane', Producer: 'Creditlane', CreationDate: date },
    });
    this.pdf.on('data', (chunk: Uint8Array) => this.#chunks.push(chunk));
    for (const [name, font] of Object.entries(FONTS)) {
      // pdfkit takes parsed fonts as well; its types name their bytes alone.
      this.pdf.registerFont(name, font as unknown as Uint8Array);
    }
    this.root = this.pdf.struct('Document');
    this.pdf.addStructure(this.root);
    this.startPage();
  }

  startPage(): void {
    this.pdf.addPage();
    this.y = TOP;
  }

  /** The points that a page has between its header and its footer. */
  readonly pageHeight = BOTTOM - TOP;

  /** The points that are left on the page. */
  get remaining(): number {
    return BOTTOM - this.y;
  }

  /** Starts a page, unless `height` points are left on the present one. Returns whether it did. */
  reserve(height: number): boolean {
    if (height <= this.remaining) return false;
    this.startPage();
    return true;
  }

  /** The lines of a text as the document's font can print them, none wider than `width`. */
  lines(text: string, width: number, style: StyleName): string[] {
    return breakLines(this.line(text), width, (part) => this.widthOf(part, style));
  }

  /** A text as one line, which is cut if it is wider than `width`. */
  fit(text: string, width: number, style: StyleName): string {
    return fitLine(this.line(text), width, (part) => this.widthOf(part, style));
  }

  widthOf(line: string, style: StyleName): number {
    const { font, size } = STYLES[style];
    return this.pdf.font(font).fontSize(size).widthOfString(line);
  }

  /** A text as one line, of any width. */
  line(text: string): string {
    return printable(text, hasGlyph);
  }

  /**
   * Prints a line that `lines`, `fit` or `line` returned. `y` is the top of the line. A right-aligned line that is wider than
   * `width` is printed in a font so small that it fits.
   */
  print(line: string, style: StyleName, { x, y, width, align = 'left', spacing }: Place): void {
    if (line === '') return;
    const { font, size, lineHeight, color } = STYLES[style];
    const lineWidth = this.widthOf(line, style);
    const scale = align === 'right' ? Math.min(1, width / lineWidth) : 1;
    const unused = align === 'left' ? 0 : width - lineWidth * scale;
    const offset = align === 'center' ? unused / 2 : unused;
    const baseline = y + lineHeight / 2 + size * 0.32;
    this.pdf
      .font(font)
      .fontSize(size * scale)
      .fillColor(color)
      // The space parts the last word of a line from the next line for screen readers and copies.
      .text(`${line} `, x + offset, baseline, {
        lineBreak: false,
        baseline: 'alphabetic',
        ...(spacing !== undefined && { characterSpacing: spacing }),
      });
  }

  /** Draws a thin line over the whole width. */
  rule(y: number): void {
    this.pdf
      .moveTo(LEFT, y)
      .lineTo(LEFT + WIDTH, y)
      .lineWidth(0.5)
      .stroke(COLORS.rule);
  }

  /** Adds a tag such as "Table" to the document's structure; what `draw` prints is its content. */
  tag(parent: Tag, type: string, draw?: () => void, options: TagOptions = {}): Tag {
    const { columns, ...others } = options;
    const tag = this.pdf.struct(type, others);
    if (columns !== undefined) {
      const { dictionary } = tag as Tag & { dictionary: { data: Record<string, unknown> } };
      dictionary.data.A = { O: 'Table', ColSpan: columns };
    }
    parent.add(tag);
    if (draw !== undefined) tag.add(draw);
    return tag;
  }

  /** Draws what screen readers pass over: rules, backgrounds, repeated headers. */
  decorate(draw: () => void, type: 'Layout' | 'Pagination' = 'Layout'): void {
    this.pdf.markContent('Artifact', { type });
    draw();
    this.pdf.endMarkedContent();
  }

  /** Prints a paragraph over the whole width, a short one on one page, a longer one on as many as it takes. */
  paragraph(parent: Tag, text: string, style: StyleName, type = 'P'): void {
    const { lineHeight } = STYLES[style];
    const tag = this.tag(parent, type);
    let lines = this.lines(text, WIDTH, style);
    if (lines.length <= KEPT_TOGETHER) this.reserve(lines.length * lineHeight);
    while (lines.length > 0) {
      this.reserve(lineHeight);
      const fitting = Math.floor(this.remaining / lineHeight);
      const printed = lines.slice(0, fitting);
      tag.add(() => {
        for (const line of printed) {
          this.print(line, style, { x: LEFT, y: this.y, width: WIDTH });
          this.y += lineHeight;
        }
      });
      lines = lines.slice(fitting);
    }
    tag.end();
  }

  /** Prints on each page what `drawPage` draws, and returns the bytes of the document. */
  async finish(drawPage: (page: number, pages: number) => void): Promise<Uint8Array> {
    this.root.end();
    const { count } = this.pdf.bufferedPageRange();
    for (let page = 0; page < count; page += 1) {
      this.pdf.switchToPage(page);
      this.decorate(() => drawPage(page + 1, count), 'Pagination');
    }
    const ended = new Promise<void>((resolve, reject) => {
      this.pdf.once('end', resolve).once('error', reject);
    });
    this.pdf.end();
    await ended;
    return Buffer.concat(this.#chunks);
  }
}

/** `scope` and `columns` are those of a table's cells, which the types of the library lack. */
interface TagOptions {
  alt?: string;
  title?: string;
  scope?: 'Column' | 'Row';
  /** How many columns the cell spans, if more than one. */
  columns?: number;
  bbox?: [number, number, number, number];
}
