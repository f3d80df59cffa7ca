/** The head of a document, and what stands at the top and bottom of each of its pages. */
import type { CreditFile } from '../../credit-file.ts';
import { LEFT, type Tag, TOP, WIDTH } from '../sheet/sheet.ts';
import { STYLES } from '../sheet/styles.ts';
import type { Words } from '../words/words.ts';
import { type Drawing, join, labelled, partyName, spokenCode, wordOf } from './drawing.ts';
import { drawFacts } from './facts.ts';

type Name = Omit<NonNullable<NonNullable<CreditFile['subject']>['otherNames']>[number], 'type'>;

const NAME_SUFFIX = /^(?:JR|SR|I{1,3}|IV|VI{0,3})\.?$/i;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** A person's name in the order in which it is spoken. */
export function nameOf(person: Name | undefined, words: Words): string | undefined {
  const { firstName, middleName, lastName, suffix } = person ?? {};
  return join([firstName, middleName, lastName, suffix && suffixOf(suffix, words)]);
}

/** Instead of a suffix, a bureau may give words such as "Combined files", or a code that has none. */
function suffixOf(suffix: string, words: Words): string {
  if (NAME_SUFFIX.test(suffix)) return suffix;
  return `(${/^\w{1,2}$/.test(suffix) ? words.code(suffix) : suffix})`;
}

/** The bureau's number of the file; undefined where the file has the platform's own, which is a UUID, in its place. */
function fileNumberOf({ id }: CreditFile): string | undefined {
  return id === undefined || UUID.test(id) ? undefined : id;
}

export function sourceOf(file: CreditFile, words: Words): string {
  return wordOf(words.enumerations.source, file.source ?? undefined) ?? words.labels.unknownSource;
}

/** Draws the title, the subject's name, and what identifies the file. */
export function drawHead(drawing: Drawing, root: Tag): void {
  const { sheet, file, words, formats } = drawing;
  const { labels } = words;
  sheet.paragraph(root, `${labels.title} · ${sourceOf(file, words)}`, 'title', 'H1');
  sheet.paragraph(root, nameOf(file.subject, words) ?? labels.unnamedSubject, 'name');
  sheet.y += 6;
  drawMatch(drawing, root);
  drawFacts(sheet, root, [
    {
      label: labels.hitType,
      value: wordOf(words.enumerations.hitType, file.hitType),
      detail: file.hitStrength && spokenCode(file.hitStrength, words.code),
    },
    { label: labels.requestedOn, value: formats.dateOf(file, 'requestedDate') },
    { label: labels.fileSince, value: formats.dateOf(file, 'fileSinceDate') },
    { label: labels.lastActivity, value: formats.dateOf(file, 'lastActivityDate') },
    { label: labels.fileId, value: fileNumberOf(file) },
    { label: labels.customerNumber, value: file.customerNumber },
    { label: labels.bureau, value: partyName(file.bureau) },
    ...(file.matched === undefined
      ? []
      : [{ label: labels.match, value: wordOf(words.enumerations.matched, file.matched) }]),
  ]);
  sheet.y += 4;
}

/** Draws what differs in a file that agrees with the applicant in part only. */
function drawMatch({ sheet, file, words }: Drawing, root: Tag): void {
  if (file.matched !== 'PARTIAL') return;
  const { difference } = words.enumerations;
  const differences = (file.differences ?? []).map((it) => wordOf(difference, it));
  sheet.paragraph(root, words.partialMatch(join(differences, ', ') ?? '–'), 'alert');
  sheet.y += 6;
}

/** Draws the subject, source and date above a page, and its number below. */
export function drawPageFrame(drawing: Drawing, page: number, pages: number): void {
  const { sheet, file, words, formats } = drawing;
  const { labels } = words;
  const confidential = labels.confidential.toLocaleUpperCase(words.locale);
  const right = sheet.widthOf(confidential, 'alert') + 12;
  const facts = [
    nameOf(file.subject, words) ?? labels.unnamedSubject,
    `${labels.title}, ${sourceOf(file, words)}`,
    formats.dateOf(file, 'requestedDate'),
  ];
  const header = sheet.fit(join(facts, '  ·  ') ?? '', WIDTH - right, 'muted');
  const top = TOP - 32;
  sheet.print(header, 'muted', { x: LEFT, y: top, width: WIDTH });
  sheet.print(confidential, 'alert', { x: LEFT, y: top, width: WIDTH, align: 'right' });
  sheet.rule(top + STYLES.muted.lineHeight + 4);

  const bottom = TOP + sheet.pageHeight + 14;
  sheet.rule(bottom - 5);
  const number = words.pageOf(page, pages);
  const fileNumber = labelled(labels.fileId, fileNumberOf(file), words);
  const note = join([labels.confidentialNote, fileNumber]);
  const noteWidth = WIDTH - sheet.widthOf(number, 'strong') - 12;
  sheet.print(sheet.fit(note ?? '', noteWidth, 'small'), 'small', {
    x: LEFT,
    y: bottom,
    width: WIDTH,
  });
  sheet.print(number, 'strong', { x: LEFT, y: bottom, width: WIDTH, align: 'right' });
}
