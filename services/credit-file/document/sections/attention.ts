/** What a lender must not miss: the box at the top of the summary, and the sections that are not shown. */
import type { CreditFile } from '../../credit-file.ts';
import type { EntryCounts } from '../figures/entry-counts.ts';
import { LEFT, type Tag, WIDTH } from '../sheet/sheet.ts';
import { COLORS, STYLES, type StyleName } from '../sheet/styles.ts';
import { type Drawing, join, labelled, wordOf } from './drawing.ts';

type Text = { text: string; style: StyleName };

const PADDING = 4;
/** All styles of the box have lines of this height. */
const LINE_HEIGHT = STYLES.alert.lineHeight;

/** Draws a box with the warnings first, on as many pages as it takes; nothing if there is nothing to say. */
export function drawAttention(drawing: Drawing, section: Tag, counts: EntryCounts): void {
  const { sheet, words } = drawing;
  const { labels } = words;
  const warnings = listWarnings(drawing, counts);
  const points = labelled(labels.attention, join(listPoints(drawing), '; '), words);
  const texts: Text[] = [
    ...(warnings.length > 0 ? [{ text: labels.warnings, style: 'alert' as const }] : []),
    ...warnings.map((text): Text => ({ text: `• ${text}`, style: 'strong' })),
    ...(points === undefined ? [] : [{ text: points, style: 'alert' as const }]),
  ];
  let lines = texts.flatMap(({ text, style }) => {
    const tag = sheet.tag(section, 'P');
    return sheet.lines(text, WIDTH - 16, style).map((line) => ({ line, style, tag }));
  });
  if (lines.length === 0) return;
  sheet.reserve(Math.min(lines.length * LINE_HEIGHT + 2 * PADDING, sheet.pageHeight));
  while (lines.length > 0) {
    const fitting = Math.floor((sheet.remaining - 2 * PADDING) / LINE_HEIGHT);
    const height = Math.min(fitting, lines.length) * LINE_HEIGHT + 2 * PADDING;
    sheet.decorate(() => {
      sheet.pdf.rect(LEFT, sheet.y, WIDTH, height).fill(COLORS.alertShade);
      sheet.pdf.rect(LEFT, sheet.y, 3, height).fill(COLORS.alert);
    });
    lines.slice(0, fitting).forEach(({ line, style, tag }, index) => {
      const y = sheet.y + PADDING + index * LINE_HEIGHT;
      tag.add(() => sheet.print(line, style, { x: LEFT + 10, y, width: WIDTH - 16 }));
    });
    lines = lines.slice(fitting);
    sheet.y += height + 8;
    if (lines.length > 0) sheet.startPage();
  }
}

/** What the bureau warns of, and the entries that end most applications. */
function listWarnings({ file, words, formats }: Drawing, counts: EntryCounts): string[] {
  const { labels, enumerations } = words;
  const counted = (label: string, count: number, detail?: string) =>
    count === 0
      ? []
      : [labelled(label, join([formats.number(count), detail && `(${detail})`]) ?? '', words)];
  return [
    ...(file.warnings ?? []).map(({ source, code, text }) => {
      const said = text ?? (code === undefined ? '–' : words.code(code));
      return labelled(wordOf(enumerations.warningSource, source) ?? source, said, words);
    }),
    ...counted(labels.undischargedBankruptcies, counts.activeBankruptcies),
    ...counted(
      labels.unpaidCollections,
      counts.unpaidCollections,
      formats.money(counts.unpaidCollectionsBalance),
    ),
    ...counted(labels.repossessions, counts.repossessions),
  ];
}

/** What else is not as in most files. */
function listPoints({ file, words, formats }: Drawing): (string | undefined)[] {
  const { labels, enumerations } = words;
  const services = new Set(file.specialServices?.map(({ type }) => type));
  const statements = file.consumerStatements?.length ?? 0;
  return [
    file.hitType === 'HIT' ? undefined : wordOf(enumerations.hitType, file.hitType),
    labelled(labels.dateOfDeath, formats.dateOf(file.subject, 'dateOfDeath'), words),
    ...Array.from(services, (type) => wordOf(enumerations.specialService, type)),
    statements > 0
      ? labelled(labels.consumerStatements, formats.number(statements), words)
      : undefined,
  ];
}

/** Names the sections that the file only counts. */
export function drawAlsoReported({ sheet, file, words, formats }: Drawing, section: Tag): void {
  if (!file.alsoReported?.length) return;
  const { labels } = words;
  const sections = file.alsoReported.map(
    (it) => `${sectionWords(it, words.sections)} (${formats.number(it.count)})`,
  );
  sheet.paragraph(section, labelled(labels.alsoReported, sections.join(' · '), words), 'body');
  sheet.y += 6;
}

function sectionWords(
  { section }: NonNullable<CreditFile['alsoReported']>[number],
  words: Drawing['words']['sections'],
): string {
  return wordOf(words as Record<string, string>, section) ?? section;
}
