/** A report of TransUnion Canada as a credit file. */
import type { CreditFile } from '../../credit-file.ts';
import * as permitted from '../../credit-file-values.ts';
import {
  type AnswerValues,
  presentFields,
  readEach,
  readName,
  readScoreValue,
} from '../answer/answer-values.ts';
import { textOf } from '../answer/find-element.ts';
import { ReportSections } from '../answer/report-sections.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import { type PaymentPatternOptions, readTrade } from './trade.ts';

/** What stands beside the file in a report. */
const AROUND_THE_FILE = [
  'UserReference',
  'MemberCode',
  'Date',
  'Time',
  'Product',
  'Errors',
  'TU_FFR_Report',
];

/**
 * @param it REL4Report, or the result in its place
 * @param inner TU_FFR_Report, an element of it
 */
export function readReport(
  it: XmlElement,
  inner: XmlElement,
  values: AnswerValues,
  options: PaymentPatternOptions,
): CreditFile {
  const [report, file] = [new ReportSections(it), new ReportSections(inner)];
  for (const name of AROUND_THE_FILE) report.find(name);
  for (const name of ['Hit', 'OnFileDate']) file.find(name);
  const requested = values.dates(it, { requestedDate: 'Date' });
  const since = values.dates(inner, { fileSinceDate: 'OnFileDate' });
  const creditFile = presentFields<CreditFile>({
    source: 'TRANSUNION',
    customerNumber: values.text(it, 'MemberCode'),
    ...requested,
    ...since,
    datesWithoutDay: [requested, since].flatMap(({ datesWithoutDay = [] }) => datesWithoutDay),
    hitType: values.code(inner, 'Hit', 'hitType', permitted.HIT_TYPES),
    warnings: [report, file].flatMap((sections) => readEach(sections.list(MESSAGE), readMessage)),
    subject: readSubject(file, values),
    collections: readEach(file.list('Collections/Collection'), (collection) =>
      readCollection(collection, values),
    ),
    trades: readEach(file.list('Trades/Trade'), (trade) => readTrade(trade, values, options)),
    localInquiries: readEach(file.list('Inquiries/Inquiry'), (inquiry) =>
      presentFields({
        ...values.dates(inquiry, { date: 'Date' }),
        customer: presentFields({
          id: values.text(inquiry, 'MemberCode'),
          name: values.text(inquiry, 'MemberName'),
        }),
      }),
    ),
    scores: readEach(file.list('ScoreProducts/ScoreProduct'), (score) => readScore(score, values)),
  });
  const alsoReported = [...report.alsoReported(values), ...file.alsoReported(values)];
  return presentFields({ ...creditFile, alsoReported }) ?? {};
}

const MESSAGE = 'Messages/Message';

/** Of a message only the name of its element is publicly known: its text is all that stands in it. */
function readMessage(it: XmlElement) {
  const text = textOf(it);
  const code = it.attributes.code?.trim() ?? '';
  if (text === '' && code === '') return undefined;
  return { ...(code && { code }), ...(text && { text }), source: 'MESSAGE' as const };
}

function readSubject(file: ReportSections, values: AnswerValues): CreditFile['subject'] {
  const names = file.list('Names/Name').map((it) => ({
    it,
    isOwn: values.isWithoutValue('otherName', nameTypeOf(it)),
    type: readNameType(it, values),
  }));
  // A name of an unknown type is the own one only where no name is known to be.
  const own = names.find(({ isOwn }) => isOwn) ?? names.find(({ type }) => type === undefined);
  const personal = file.find('PersonalInformation');
  return presentFields<NonNullable<CreditFile['subject']>>({
    ...readName(own?.it, values),
    sin: personal && values.sin(personal, 'SIN'),
    ...(personal && values.dates(personal, { dateOfBirth: 'DOB' })),
    otherNames: names
      .filter((name) => name !== own)
      .map(({ it, type }) => presentFields({ type, ...readName(it, values) }))
      .filter((name) => name !== undefined),
    addressHistory: readEach(file.list('Addresses/Address'), (it) =>
      presentFields({
        ...values.dates(it, { dateReported: 'DateReported' }),
        ...splitStreet(values.text(it, 'Street')),
        city: values.text(it, 'City'),
        province: values.code(it, 'Prov', 'province', permitted.PROVINCES),
        postalCode: values.text(it, 'Postal'),
      }),
    ),
  });
}

function nameTypeOf(name: XmlElement): string {
  return name.attributes.NameType?.trim() ?? '';
}

/** Absent for the person's own name, and for an unknown type. */
function readNameType(name: XmlElement, values: AnswerValues) {
  const type = nameTypeOf(name);
  return values.lookUp(name, '@NameType', {
    code: type,
    description: type,
    table: 'otherName',
    values: permitted.OTHER_NAME_TYPES,
  });
}

/**
 * A street number is what begins with a digit and ends at the first blank, unless it is the ordinal number of a street
 * in English or French. `12E` alone may be either, and counts as a street number.
 */
const STREET = /^(?!\d+(?:st|nd|rd|th|[eè]?re|er|i?[eè]me)\s)(\d\S*)\s+(\S.*)$/is;

function splitStreet(street: string | undefined) {
  const [, streetNo, streetName] = STREET.exec(street ?? '') ?? [];
  return { streetNo, streetName: streetName ?? street };
}

function readCollection(it: XmlElement, values: AnswerValues) {
  const balanceAmount = values.amount(it, 'CurrentBalance');
  return presentFields<NonNullable<CreditFile['collections']>[number]>({
    type: readCollectionType(values.isGiven(it, 'DatePaidOut'), balanceAmount),
    ...values.dates(it, { assignedDate: 'DateReported', datePaid: 'DatePaidOut' }),
    agency: presentFields({ name: values.text(it, 'MemberName') }),
    agencyAccountNumber: values.text(it, 'Account'),
    creditor: presentFields({ accountNumberAndOrName: values.text(it, 'Creditor') }),
    originalAmount: values.amount(it, 'OriginalAmount'),
    balanceAmount,
    narratives: readEach([it], (collection) =>
      values.code(collection, 'Narrative', 'narrative', permitted.COLLECTION_NARRATIVES),
    ),
  });
}

/**
 * A date of the payment says that the collection is paid, also when it cannot be read. Absent without it and without a
 * balance: neither says whether the collection is paid.
 */
function readCollectionType(isPaidOut: boolean, balanceAmount = 0) {
  if (isPaidOut) return 'PAID';
  return balanceAmount > 0 ? 'UNPAID' : undefined;
}

/** Undefined for a product without a score, of which most answers have several. */
function readScore(it: XmlElement, values: AnswerValues) {
  if (!values.isGiven(it, 'Score')) return undefined;
  if (values.isGiven(it, ALERT)) values.leaveOut(it, ALERT, values.text(it, ALERT) ?? '');
  const factors = [1, 2, 3, 4].map((index) => values.factor(values.text(it, `Factor${index}`)));
  return presentFields({
    ...readScoreValue(values.text(it, 'Score')),
    narratives: readEach([it], () => values.text(it, 'Product')),
    reasons: factors.filter((factor) => factor !== undefined),
  });
}

/** An alert whose values are not publicly known. */
const ALERT = 'ScoreDerogatoryAlert';
