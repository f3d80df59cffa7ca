/** Breaks texts into lines. */

/**
 * The parts of a text between which a line may be broken. The limit of 64 characters keeps the cost of a
 * word of a megabyte proportional to its length.
 */
const PARTS = /[^ \-/]{0,64}(?:[-/]{1,64}| |$)|[^ \-/]{64}/gu;

/**
 * The lines of a text, none wider than `width`. A line is broken at spaces and after hyphens and slashes; a
 * word that is wider than a line is broken between characters.
 *
 * pdfkit's own line wrapper draws while it breaks, and continues on the next page by itself: rows of tables
 * need the number of lines before anything is drawn.
 */
export function breakLines(
  text: string,
  width: number,
  widthOf: (text: string) => number,
): string[] {
  const lines: string[] = [];
  let line = '';
  let lineWidth = 0;
  const spaceWidth = widthOf(' ');
  for (const part of text.match(PARTS) ?? []) {
    if (part === '') continue;
    const partWidth = widthOf(part);
    const visibleWidth = part.endsWith(' ') ? partWidth - spaceWidth : partWidth;
    if (line !== '' && lineWidth + visibleWidth > width) {
      lines.push(line.trimEnd());
      line = '';
      lineWidth = 0;
    }
    line += part;
    lineWidth += partWidth;
    while (lineWidth > width && widthOf(line.trimEnd()) > width) {
      const fitting = charactersWithin(line, width, widthOf);
      lines.push(line.slice(0, fitting));
      line = line.slice(fitting);
      lineWidth = widthOf(line);
    }
  }
  if (line.trimEnd() !== '') lines.push(line.trimEnd());
  return lines;
}

/** A text that is cut with an ellipsis where it would be wider than `width`. */
export function fitLine(text: string, width: number, widthOf: (text: string) => number): string {
  if (widthOf(text) <= width) return text;
  const available = width - widthOf('…');
  return `${text.slice(0, charactersWithin(text, available, widthOf)).trimEnd()}…`;
}

/** How many characters fit, at least one, without splitting a surrogate pair. */
function charactersWithin(text: string, width: number, widthOf: (text: string) => number): number {
  let low = 1;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(text.slice(0, middle)) <= width) low = middle;
    else high = middle - 1;
  }
  return /[\ud800-\udbff]/.test(text.charAt(low - 1)) && low < text.length ? low + 1 : low;
}
