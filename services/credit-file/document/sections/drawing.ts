/** What every section of a document is drawn from. */
import type { CreditFile } from '../../credit-file.ts';
import type { Sheet, Tag } from '../sheet/sheet.ts';
import type { StyleName } from '../sheet/styles.ts';
import { type Cell, type CellText, drawTable, type Level, type Table } from '../sheet/table.ts';
import type { Formats } from '../words/formats.ts';
import type { Words } from '../words/words.ts';

export interface Drawing {
  file: CreditFile;
  sheet: Sheet;
  words: Words;
  formats: Formats;
}

/** Draws a section of one table. A section without rows is left out: `drawEmptySections` names it. */
export function drawTableSection(
  { sheet, words }: Drawing,
  parent: Tag,
  table: Pick<Table, 'title' | 'columns' | 'rows' | 'legend'> & { level?: Level },
): void {
  if (table.rows.length === 0) return;
  const section = sheet.tag(parent, 'Sect');
  const continuedTitle = words.continued(table.title);
  drawTable(sheet, section, { level: 'section', ...table, continuedTitle });
  section.end();
}

/** The word of an enumeration's value. A value of a later version has none: it stands for itself. */
export function wordOf<Value extends string>(
  words: Record<Value, string>,
  value: Value | undefined,
): string | undefined {
  if (value === undefined || !Object.hasOwn(words, value)) return value;
  return words[value];
}

/** The texts that are there, with a separator between them; undefined if none is. */
export function join(texts: readonly (string | undefined)[], separator = ' '): string | undefined {
  const present = texts.filter((text) => text !== undefined && text !== '');
  return present.length === 0 ? undefined : present.join(separator);
}

/** "Label: text", or undefined without a text. */
export function labelled(label: string, text: string, words: Words): string;
export function labelled(label: string, text: string | undefined, words: Words): string | undefined;
export function labelled(label: string, text: string | undefined, { locale }: Words) {
  if (text === undefined) return undefined;
  // French has a no-break space before a colon.
  return `${label}${locale === 'fr-CA' ? '\u00a0' : ''}: ${text}`;
}

/** A text of a bureau, which is said to be a code by `say` if it is a number. */
export function spokenCode(text: string, say: (code: string) => string): string {
  return /^\d+$/.test(text) ? say(text) : text;
}

/** A text of a cell in this style; undefined without a text. */
export function styled(text: string | undefined, style: StyleName): CellText | undefined {
  return text === undefined ? undefined : { text, style };
}

/** A court, an agency or a bureau: its name and its id. */
export function partyName(party: { name?: string; id?: string } | undefined): string | undefined {
  return join([party?.name, party?.id], ', ');
}

/** The narratives of an entry as the note of its row. */
export function narrativesOf<Value extends string>(
  narratives: readonly Value[] | undefined,
  words: Record<Value, string>,
): Cell {
  const texts = (narratives ?? []).map((value) => wordOf(words, value));
  return [styled(join(texts, ', '), 'muted')];
}
