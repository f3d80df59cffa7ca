/** The sections of a file's inquiries, special services and consumer statements. */
import { memberOf, splitInquiries } from '../figures/consumer-inquiries.ts';
import type { Tag } from '../sheet/sheet.ts';
import { type Drawing, drawTableSection, wordOf } from './drawing.ts';

export function drawInquiries(drawing: Drawing, root: Tag): void {
  const { words, file, formats } = drawing;
  const { labels } = words;
  const { local, foreign, ofConsumer } = splitInquiries(file);
  const columns = [
    { title: [labels.date], share: 1 },
    { title: [labels.member], share: 3 },
    { title: [labels.customerNumber], share: 2 },
    { title: [labels.phone], share: 2 },
  ];
  const rowOf = (inquiry: (typeof ofConsumer)[number]) => ({
    cells: [
      [formats.dateOf(inquiry, 'date')],
      [memberOf(inquiry) ?? '–'],
      [inquiry.customer?.id],
      [formats.phoneNumber(inquiry.customer?.phoneNumber)],
    ],
  });
  drawTableSection(drawing, root, {
    title: labels.localInquiries,
    columns,
    rows: local.map(rowOf),
  });
  drawTableSection(drawing, root, {
    title: labels.foreignInquiries,
    columns: [
      { title: [labels.date], share: 1 },
      { title: [labels.member], share: 5 },
      { title: [labels.industry], share: 2 },
    ],
    rows: foreign.map((inquiry) => ({
      cells: [[formats.dateOf(inquiry, 'date')], [inquiry.memberNameAndNumber], [inquiry.industry]],
    })),
  });
  drawTableSection(drawing, root, {
    title: labels.consumerInquiries,
    columns,
    rows: ofConsumer.map(rowOf),
  });
}

export function drawSpecialServices(drawing: Drawing, root: Tag): void {
  const { words, file, formats } = drawing;
  const { labels, enumerations } = words;
  drawTableSection(drawing, root, {
    title: labels.specialServices,
    columns: [
      { title: [labels.service], share: 3 },
      { title: [labels.reported], share: 1.4 },
      { title: [labels.member], share: 3 },
      { title: [labels.customerNumber], share: 2 },
      { title: [labels.phone], share: 2 },
    ],
    rows: (file.specialServices ?? []).map((service) => ({
      cells: [
        [wordOf(enumerations.specialService, service.type)],
        [formats.dateOf(service, 'dateReported')],
        [service.customer?.name],
        [service.customer?.id],
        [formats.phoneNumber(service.customer?.phoneNumber)],
      ],
    })),
  });
}

export function drawConsumerStatements(drawing: Drawing, root: Tag): void {
  const { words, file, formats } = drawing;
  const { labels } = words;
  drawTableSection(drawing, root, {
    title: labels.consumerStatements,
    columns: [
      { title: [labels.reported], share: 1 },
      { title: [labels.purgedOn], share: 1 },
      { title: [labels.statement], share: 6 },
    ],
    rows: (file.consumerStatements ?? []).map((statement) => ({
      cells: [
        [formats.dateOf(statement, 'dateReported')],
        [formats.dateOf(statement, 'dateToBePurged')],
        [statement.statement],
      ],
    })),
  });
}
