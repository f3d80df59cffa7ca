/** The section of a file's collections. */
import type { Tag } from '../sheet/sheet.ts';
import { type Drawing, drawTableSection, join, wordOf } from './drawing.ts';

export function drawCollections(drawing: Drawing, root: Tag): void {
  const { words, formats, file } = drawing;
  const { labels, enumerations } = words;
  drawTableSection(drawing, root, {
    title: labels.collections,
    columns: [
      { title: [labels.creditor, labels.industry], share: 130 },
      { title: [labels.agency, labels.accountNumber], share: 110 },
      { title: [labels.type, labels.reason], share: 60 },
      { title: [labels.assigned, labels.lastPayment, labels.paid], share: 76 },
      { title: [labels.originalAmount], share: 62, align: 'right' },
      { title: [labels.balance], share: 62, align: 'right' },
    ],
    rows: (file.collections ?? []).map((collection) => {
      const { creditor, agency, narratives } = collection;
      return {
        cells: [
          [
            creditor?.accountNumberAndOrName && {
              text: creditor.accountNumberAndOrName,
              style: 'strong',
            },
            collection.industry,
          ],
          [join([agency?.name, agency?.id], ', '), collection.agencyAccountNumber],
          [
            wordOf(enumerations.collectionType, collection.type),
            wordOf(enumerations.collectionReason, collection.reason),
          ],
          [
            formats.date(collection.assignedDate) ?? '–',
            formats.date(collection.dateOfLastPayment) ?? '–',
            formats.date(collection.datePaid) ?? '–',
          ],
          [formats.money(collection.originalAmount)],
          [formats.money(collection.balanceAmount)],
        ],
        note: narrativesOf(narratives, enumerations.collectionNarrative),
      };
    }),
  });
}

/** The narratives of an entry as the note of its row. */
export function narrativesOf<Value extends string>(
  narratives: readonly Value[] | undefined,
  words: Record<Value, string>,
) {
  const text = join(
    (narratives ?? []).map((value) => wordOf(words, value)),
    ', ',
  );
  return text === undefined ? [] : [{ text, style: 'muted' as const }];
}
