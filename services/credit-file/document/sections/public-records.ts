/** The sections of what courts and registries have filed: bankruptcies, legal items, secured loans. */
import type { Tag } from '../sheet/sheet.ts';
import {
  type Drawing,
  drawTableSection,
  labelled,
  narrativesOf,
  partyName,
  styled,
  wordOf,
} from './drawing.ts';

export function drawPublicRecords(drawing: Drawing, root: Tag): void {
  drawBankruptcies(drawing, root);
  drawLegalItems(drawing, root);
  drawSecuredLoans(drawing, root);
}

function drawBankruptcies(drawing: Drawing, root: Tag): void {
  const { words, file, formats } = drawing;
  const { labels, enumerations } = words;
  drawTableSection(drawing, root, {
    title: labels.bankruptcies,
    columns: [
      { title: [labels.filed], share: 60 },
      { title: [labels.court, labels.caseNumber], share: 150 },
      { title: [labels.type, labels.filer], share: 76 },
      { title: [labels.disposition], share: 116 },
      { title: [labels.liabilities], share: 65, align: 'right' },
      { title: [labels.assets], share: 65, align: 'right' },
    ],
    rows: (file.bankruptcies ?? []).map((bankruptcy) => ({
      cells: [
        [formats.dateOf(bankruptcy, 'dateFiled')],
        [partyName(bankruptcy.court), bankruptcy.caseNumber],
        [
          wordOf(enumerations.bankruptcyType, bankruptcy.type),
          wordOf(enumerations.filer, bankruptcy.filer),
        ],
        [
          styled(wordOf(enumerations.disposition, bankruptcy.disposition?.type), 'strong'),
          formats.dateOf(bankruptcy.disposition, 'date'),
        ],
        [formats.money(bankruptcy.liabilityAmount)],
        [formats.money(bankruptcy.assetAmount)],
      ],
      note: narrativesOf(bankruptcy.narratives, enumerations.bankruptcyNarrative),
    })),
  });
}

function drawLegalItems(drawing: Drawing, root: Tag): void {
  const { words, file, formats } = drawing;
  const { labels, enumerations } = words;
  drawTableSection(drawing, root, {
    title: labels.legalItems,
    columns: [
      { title: [labels.type, labels.status], share: 90 },
      { title: [labels.filed, labels.satisfied], share: 66 },
      { title: [labels.court, labels.caseNumber], share: 120 },
      { title: [labels.plaintiff, labels.defendant, labels.lawyer], share: 190 },
      { title: [labels.amount], share: 66, align: 'right' },
    ],
    rows: (file.legalItems ?? []).map((item) => ({
      cells: [
        [
          styled(wordOf(enumerations.legalItemType, item.type) ?? '–', 'strong'),
          wordOf(enumerations.legalItemStatus, item.status),
        ],
        [formats.dateOf(item, 'dateFiled') ?? '–', formats.dateOf(item, 'dateSatisfied')],
        [partyName(item.court), item.caseNumber],
        [
          labelled(labels.plaintiff, item.plaintiff, words),
          labelled(labels.defendant, item.defendant, words),
          labelled(labels.lawyer, item.lawyerNameAddress, words),
        ],
        [formats.money(item.amount)],
      ],
      note: narrativesOf(item.narratives, enumerations.legalItemNarrative),
    })),
  });
}

function drawSecuredLoans(drawing: Drawing, root: Tag): void {
  const { words, file, formats } = drawing;
  const { labels, enumerations } = words;
  drawTableSection(drawing, root, {
    title: labels.securedLoans,
    columns: [
      { title: [labels.filed], share: 62 },
      { title: [labels.matures], share: 62 },
      { title: [labels.court], share: 130 },
      { title: [labels.creditor], share: 188 },
      { title: [labels.industry], share: 90 },
    ],
    rows: (file.securedLoans ?? []).map((loan) => ({
      cells: [
        [formats.dateOf(loan, 'dateFiled')],
        [formats.dateOf(loan, 'maturityDate')],
        [partyName(loan.court)],
        [loan.creditor?.nameAddressAndAmount],
        [loan.industry],
      ],
      note: narrativesOf(loan.narratives, enumerations.securedLoanNarrative),
    })),
  });
}
