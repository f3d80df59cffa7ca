/** The section of the person whom a file is about. */

import { maskSin } from '../../reading/mask-file.ts';
import type { Tag } from '../sheet/sheet.ts';
import { drawHeading } from '../sheet/table.ts';
import { formatPostalCode } from '../words/formats.ts';
import { type Drawing, drawTableSection, join, wordOf } from './drawing.ts';
import { drawFacts } from './facts.ts';
import { nameOf } from './head.ts';

export function drawSubject(drawing: Drawing, root: Tag): void {
  const { sheet, file, words, formats } = drawing;
  const { subject } = file;
  if (subject === undefined) return;
  const { labels } = words;
  const section = sheet.tag(root, 'Sect');
  sheet.reserve(60);
  drawHeading(sheet, section, labels.subject, 'section');
  const facts = [
    { label: labels.name, value: nameOf(subject, words), style: 'strong' as const },
    { label: labels.dateOfBirth, value: formats.dateOf(subject, 'dateOfBirth') },
    { label: labels.socialInsuranceNumber, value: subject.sin && maskSin(subject.sin) },
  ];
  const death = formats.dateOf(subject, 'dateOfDeath');
  if (death) facts.push({ label: labels.dateOfDeath, value: death });
  drawFacts(sheet, section, facts);
  sheet.y += 4;
  drawOtherNames(drawing, section);
  drawAddresses(drawing, section);
  drawEmployments(drawing, section);
  section.end();
}

function drawOtherNames(drawing: Drawing, section: Tag): void {
  const { words } = drawing;
  const { labels, enumerations } = words;
  drawTableSection(drawing, section, {
    title: labels.names,
    level: 'part',
    columns: [
      { title: [labels.name], share: 3 },
      { title: [labels.nameType], share: 2 },
    ],
    rows: (drawing.file.subject?.otherNames ?? []).map((name) => ({
      cells: [[nameOf(name, words)], [wordOf(enumerations.otherName, name.type)]],
    })),
  });
}

function drawAddresses(drawing: Drawing, section: Tag): void {
  const { words, formats, file } = drawing;
  const { labels } = words;
  drawTableSection(drawing, section, {
    title: labels.addresses,
    level: 'part',
    columns: [
      { title: [labels.address], share: 4 },
      { title: [labels.reported], share: 1 },
    ],
    rows: (file.subject?.addressHistory ?? []).map((address) => {
      const street = join([address.streetNo, address.streetName]);
      const city = join([
        address.city,
        address.province,
        address.postalCode && formatPostalCode(address.postalCode),
      ]);
      return {
        cells: [[join([street, city], ', ')], [formats.dateOf(address, 'dateReported')]],
      };
    }),
  });
}

function drawEmployments(drawing: Drawing, section: Tag): void {
  const { words, formats, file } = drawing;
  const { labels } = words;
  drawTableSection(drawing, section, {
    title: labels.employments,
    level: 'part',
    columns: [
      { title: [labels.employer], share: 4 },
      { title: [labels.occupation], share: 3 },
      { title: [labels.place], share: 3 },
      { title: [labels.employed], share: 2 },
      { title: [labels.left], share: 2 },
      { title: [labels.monthlyIncome], share: 2, align: 'right' },
    ],
    rows: (file.subject?.employmentHistory ?? []).map((employment) => ({
      cells: [
        [employment.employerName],
        [employment.occupation],
        [join([employment.city, employment.province])],
        [formats.dateOf(employment, 'dateEmployed')],
        [formats.dateOf(employment, 'dateLeft')],
        [formats.money(employment.monthlyIncome)],
      ],
    })),
  });
}
