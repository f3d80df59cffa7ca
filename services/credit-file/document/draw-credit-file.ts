/** Draws a credit file as a PDF: a summary, then every section. */
import { isCalendarDate } from '@creditlane/runtime/calendar-date';
import type { CreditFile } from '../credit-file.ts';
import { splitInquiries } from './figures/consumer-inquiries.ts';
import { drawCollections } from './sections/collections.ts';
import { type Drawing, labelled } from './sections/drawing.ts';
import { drawHead, drawPageFrame, sourceOf } from './sections/head.ts';
import {
  drawConsumerStatements,
  drawInquiries,
  drawSpecialServices,
} from './sections/inquiries.ts';
import { drawPublicRecords } from './sections/public-records.ts';
import { drawSubject } from './sections/subject.ts';
import { drawSummary } from './sections/summary.ts';
import { drawTrades } from './sections/trades.ts';
import { Sheet } from './sheet/sheet.ts';
import { ENGLISH } from './words/english.ts';
import { formatsOf } from './words/formats.ts';
import { FRENCH } from './words/french.ts';

/** The creation date in the properties of a document whose file has no date. */
const DATE_OF_UNDATED = '2000-01-01';

/**
 * The bytes of the PDF, which are the same for the same file. Its words are in the file's language, or in
 * English; the social insurance number is masked. The title names source and date alone, because titles
 * appear in lists of files and windows.
 */
export async function drawCreditFile(file: CreditFile): Promise<Uint8Array> {
  const words = file.language === 'FR' ? FRENCH : ENGLISH;
  const formats = formatsOf(words);
  const { title } = words.labels;
  const date = [file.requestedDate, file.lastActivityDate].find(
    (date) => date !== undefined && isCalendarDate(date),
  );
  const sheet = new Sheet({
    title: [title, sourceOf(file, words), date].filter(Boolean).join(' · '),
    language: words.locale,
    date: new Date(date ?? DATE_OF_UNDATED),
  });
  const drawing = { file, sheet, words, formats };
  const { root } = sheet;
  drawHead(drawing, root);
  drawSummary(drawing, root);
  drawSubject(drawing, root);
  drawTrades(drawing, root);
  drawCollections(drawing, root);
  drawPublicRecords(drawing, root);
  drawInquiries(drawing, root);
  drawSpecialServices(drawing, root);
  drawConsumerStatements(drawing, root);
  drawEmptySections(drawing);
  return sheet.finish((page, pages) => drawPageFrame(drawing, page, pages));
}

/** Names the sections that the file leaves out, so that nobody takes one for lost. */
function drawEmptySections({ file, sheet, words }: Drawing): void {
  const { labels } = words;
  const { local, foreign } = splitInquiries(file);
  const sections: [string, readonly unknown[] | undefined][] = [
    [labels.trades, file.trades],
    [labels.collections, file.collections],
    [labels.bankruptcies, file.bankruptcies],
    [labels.legalItems, file.legalItems],
    [labels.securedLoans, file.securedLoans],
    [labels.localInquiries, local],
    [labels.foreignInquiries, foreign],
    [labels.specialServices, file.specialServices],
    [labels.consumerStatements, file.consumerStatements],
  ];
  const empty = sections.filter(([, entries]) => !entries?.length).map(([title]) => title);
  if (empty.length === 0) return;
  const text = labelled(labels.nothingReported, empty.join(' · '), words);
  sheet.paragraph(sheet.root, text, 'muted');
}
