/** The section of a file's collections. */
import type { Tag } from '../sheet/sheet.ts';
import { maskAccountNumber, maskLongNumbers } from '../words/formats.ts';
import {
  type Drawing,
  drawTableSection,
  narrativesOf,
  partyName,
  styled,
  wordOf,
} from './drawing.ts';

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
            styled(maskLongNumbers(creditor?.accountNumberAndOrName), 'strong'),
            collection.industry,
          ],
          [partyName(agency), maskAccountNumber(collection.agencyAccountNumber)],
          [
            wordOf(enumerations.collectionType, collection.type),
            wordOf(enumerations.collectionReason, collection.reason),
          ],
          [
            formats.dateOf(collection, 'assignedDate') ?? '–',
            formats.dateOf(collection, 'dateOfLastPayment') ?? '–',
            formats.dateOf(collection, 'datePaid') ?? '–',
          ],
          [formats.money(collection.originalAmount)],
          [formats.money(collection.balanceAmount)],
        ],
        note: narrativesOf(narratives, enumerations.collectionNarrative),
      };
    }),
  });
}
