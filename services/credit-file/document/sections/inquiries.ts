/** The sections of a file's inquiries, special services and consumer statements. */
import type { Tag } from '../sheet/sheet.ts';
import { formatPhoneNumber } from '../words/formats.ts';
import { type Drawing, drawTableSection, wordOf } from './drawing.ts';

export function drawInquiries(drawing: Drawing, root: Tag): void {
  const { words, file, formats } = drawing;
  const { labels } = words;
  drawTableSection(drawing, root, {
    title: labels.localInquiries,
    columns: [
      { title: [labels.date], share: 1 },
      { title: [labels.member], share: 3 },
      { title: [labels.customerNumber], share: 2 },
      { title: [labels.phone], share: 2 },
    ],
    rows: (file.localInquiries ?? []).map(({ date, customer }) => ({
      cells: [
        [formats.date(date)],
        [customer?.name],
        [customer?.id],
        [customer?.phoneNumber && formatPhoneNumber(customer.phoneNumber)],
      ],
    })),
  });
  drawTableSection(drawing, root, {
    title: labels.foreignInquiries,
    columns: [
      { title: [labels.date], share: 1 },
      { title: [labels.member], share: 5 },
      { title: [labels.industry], share: 2 },
    ],
    rows: (file.foreignInquiries ?? []).map((inquiry) => ({
      cells: [[formats.date(inquiry.date)], [inquiry.memberNameAndNumber], [inquiry.industry]],
    })),
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
    rows: (file.specialServices ?? []).map(({ type, dateReported, customer }) => ({
      cells: [
        [wordOf(enumerations.specialService, type)],
        [formats.date(dateReported)],
        [customer?.name],
        [customer?.id],
        [customer?.phoneNumber && formatPhoneNumber(customer.phoneNumber)],
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
        [formats.date(statement.dateReported)],
        [formats.date(statement.dateToBePurged)],
        [statement.statement],
      ],
    })),
  });
}
