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
import { findElement, findElements } from '../answer/find-element.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import { readTrade } from './trade.ts';

/** Sections of which only the names are publicly known: nothing in them can be read, so each is counted. */
const UNKNOWN_SECTIONS = [
  'Bankruptcies',
  'ConsumerStatements',
  'Employments',
  'Legals',
  'RegisteredItems',
];
const UNKNOWN_SECTION = '(unknown section)';

/** @param file TU_FFR_Report, an element of `report` */
export function readReport(report: XmlElement, file: XmlElement, values: AnswerValues): CreditFile {
  for (const name of UNKNOWN_SECTIONS) {
    for (const _item of findElement(file, name)?.children ?? []) {
      values.leaveOut(file, name, UNKNOWN_SECTION);
    }
  }
  const creditFile = presentFields<CreditFile>({
    source: 'TRANSUNION',
    customerNumber: values.text(report, 'MemberCode'),
    fileSinceDate: values.date(file, 'OnFileDate'),
    requestedDate: values.date(report, 'Date'),
    hitType: values.code(file, 'Hit', 'hitType', permitted.HIT_TYPES),
    subject: readSubject(file, values),
    collections: readEach(findElements(file, 'Collections/Collection'), (it) =>
      readCollection(it, values),
    ),
    trades: readEach(findElements(file, 'Trades/Trade'), (it) => readTrade(it, values)),
    localInquiries: readEach(findElements(file, 'Inquiries/Inquiry'), (it) =>
      presentFields({
        date: values.date(it, 'Date'),
        customer: presentFields({
          id: values.text(it, 'MemberCode'),
          name: values.text(it, 'MemberName'),
        }),
      }),
    ),
    scores: readEach(findElements(file, 'ScoreProducts/ScoreProduct'), (it) =>
      readScore(it, values),
    ),
  });
  return creditFile ?? {};
}

function readSubject(file: XmlElement, values: AnswerValues): CreditFile['subject'] {
  const names = findElements(file, 'Names/Name').map((it) => ({
    it,
    isOwn: values.isWithoutValue('otherName', nameTypeOf(it)),
    type: readNameType(it, values),
  }));
  // A name of an unknown type is the own one only where no name is known to be.
  const own = names.find(({ isOwn }) => isOwn) ?? names.find(({ type }) => type === undefined);
  return presentFields<NonNullable<CreditFile['subject']>>({
    ...readName(own?.it, values),
    sin: values.sin(file, 'PersonalInformation/SIN'),
    dateOfBirth: values.date(file, 'PersonalInformation/DOB'),
    otherNames: names
      .filter((name) => name !== own)
      .map(({ it, type }) => presentFields({ type, ...readName(it, values) }))
      .filter((name) => name !== undefined),
    addressHistory: readEach(findElements(file, 'Addresses/Address'), (it) =>
      presentFields({
        dateReported: values.date(it, 'DateReported'),
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
  const datePaid = values.date(it, 'DatePaidOut');
  return presentFields<NonNullable<CreditFile['collections']>[number]>({
    type: readCollectionType(values.isGiven(it, 'DatePaidOut'), balanceAmount),
    assignedDate: values.date(it, 'DateReported'),
    agency: presentFields({ name: values.text(it, 'MemberName') }),
    agencyAccountNumber: values.text(it, 'Account'),
    creditor: presentFields({ accountNumberAndOrName: values.text(it, 'Creditor') }),
    originalAmount: values.amount(it, 'OriginalAmount'),
    balanceAmount,
    datePaid,
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

function readScore(it: XmlElement, values: AnswerValues) {
  const factors = [1, 2, 3, 4].map((index) => values.text(it, `Factor${index}`));
  return presentFields({
    ...readScoreValue(values.text(it, 'Score')),
    narratives: readEach([it], () => values.text(it, 'Product')),
    // A factor of 0 is none.
    reasons: factors.filter((it) => it !== undefined).filter((it) => !/^0+$/.test(it)),
  });
}
