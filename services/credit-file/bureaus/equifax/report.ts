/** One report of Equifax Canada as a credit file: header, person, inquiries, statements and scores. */

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
import { readMember } from './party.ts';
import { readBankruptcies, readCollections, readLegalItems, readSecuredLoans } from './records.ts';
import { readTrades } from './trades.ts';

/** @param report CNConsumerCreditReport */
export function readReport(report: XmlElement, values: AnswerValues): CreditFile {
  const file = presentFields<CreditFile>({
    source: 'EQUIFAX',
    ...readHeader(findElement(report, 'CNHeader'), values),
    subject: readSubject(report, values),
    bankruptcies: readBankruptcies(report, values),
    collections: readCollections(report, values),
    legalItems: readLegalItems(report, values),
    securedLoans: readSecuredLoans(report, values),
    trades: readTrades(report, values),
    localInquiries: readEach(findElements(report, 'CNLocalInquiries/CNLocalInquiry'), (it) =>
      presentFields({
        date: values.dateAttribute(it, 'date'),
        customer: readMember(findElement(it, 'CustomerId'), values),
      }),
    ),
    foreignInquiries: readEach(findElements(report, 'CNForeignInquiries/CNForeignInquiry'), (it) =>
      presentFields({
        date: values.dateAttribute(it, 'date'),
        memberNameAndNumber: joinWords(
          // This element has the name of the member, not a province.
          values.text(it, 'InquiryProvince'),
          values.text(it, 'CityNameOrInquiryNumber'),
        ),
      }),
    ),
    specialServices: readEach(findElements(report, values.pathOf('specialService')), (it) =>
      presentFields({
        type: values.code(it, '', 'specialService', permitted.SPECIAL_SERVICE_TYPES),
        dateReported: values.date(it, values.pathOf('specialServiceDate')),
        customer: readMember(it, values, {
          id: values.pathOf('specialServiceNumber'),
          name: values.pathOf('specialServiceName'),
          telephone: values.pathOf('specialServiceTelephone'),
        }),
      }),
    ),
    consumerStatements: readEach(
      findElements(report, 'CNConsumerStatements/CNConsumerStatement'),
      (it) =>
        presentFields({
          dateReported: values.date(it, 'DateReported'),
          dateToBePurged: values.date(it, 'DateToBePurged'),
          statement: values.text(it, 'Statement'),
        }),
    ),
    scores: readEach(findElements(report, 'CNScores/CNScore'), (it) => readScore(it, values)),
  });
  return file ?? {};
}

function readHeader(header: XmlElement | undefined, values: AnswerValues) {
  const request = findElement(header, 'Request');
  const creditFile = findElement(header, 'CreditFile');
  return {
    customerNumber: values.text(request, 'CustomerNumber'),
    language: request && values.code(request, 'LanguageIndicator', 'language', permitted.LANGUAGES),
    id: values.text(creditFile, 'UniqueNumber'),
    fileSinceDate: creditFile && values.date(creditFile, 'FileSinceDate'),
    lastActivityDate: creditFile && values.date(creditFile, 'DateOfLastActivity'),
    requestedDate: creditFile && values.date(creditFile, 'DateOfRequest'),
    bureau: presentFields({
      id: values.text(creditFile, 'FileOwner/BureauCode'),
      name: values.text(creditFile, 'FileOwner/BureauContactInformation'),
    }),
    hitType: creditFile && values.code(creditFile, 'HitCode', 'hitType', permitted.HIT_TYPES),
  };
}

function readSubject(report: XmlElement, values: AnswerValues): CreditFile['subject'] {
  const subject = findElement(report, 'CNHeader/Subject');
  return presentFields<NonNullable<CreditFile['subject']>>({
    ...readName(findElement(subject, 'SubjectName'), values),
    sin: subject && values.sin(subject, 'SubjectId/SocialInsuranceNumber'),
    dateOfBirth: subject && values.date(subject, 'SubjectId/DateOfBirth'),
    dateOfDeath: subject && values.date(subject, 'SubjectId/DateOfDeath'),
    otherNames: readEach(findElements(report, 'CNOtherNames/CNOtherName'), (it) =>
      presentFields({
        type: values.code(it, '', 'otherName', permitted.OTHER_NAME_TYPES),
        ...readName(it, values),
      }),
    ),
    addressHistory: readEach(latestFirst(report, 'CNAddresses/CNAddress', ADDRESS_CODES), (it) =>
      presentFields({
        dateReported: values.date(it, 'DateReported'),
        streetNo: values.text(it, 'CivicNumber'),
        streetName: values.text(it, 'StreetName'),
        city: values.text(it, 'City'),
        province: readProvince(it, 'Province', values),
        postalCode: values.text(it, 'PostalCode'),
      }),
    ),
    employmentHistory: readEach(
      latestFirst(report, 'CNEmployments/CNEmployment', EMPLOYMENT_CODES),
      (it) =>
        presentFields({
          dateEmployed: values.date(it, values.pathOf('employmentStart')),
          dateLeft: values.date(it, values.pathOf('employmentEnd')),
          employerName: values.text(it, 'Employer'),
          occupation: values.text(it, 'Occupation'),
          city: values.text(it, values.pathOf('employmentCity')),
          province: readProvince(it, values.pathOf('employmentProvince'), values),
          monthlyIncome: values.amount(it, values.pathOf('employmentIncome')),
        }),
    ),
  });
}

/** The current one, the former and the one before, by the attribute `code`. */
const ADDRESS_CODES = ['CA', 'FA', 'F2'];
const EMPLOYMENT_CODES = ['ES', 'EF', 'E2'];

/** The elements in the order of their codes; those with other codes come last, in the order of the report. */
function latestFirst(report: XmlElement, path: string, codes: readonly string[]): XmlElement[] {
  const rank = ({ attributes }: XmlElement) => {
    const index = codes.indexOf(attributes.code?.trim() ?? '');
    return index === -1 ? codes.length : index;
  };
  return findElements(report, path).toSorted((a, b) => rank(a) - rank(b));
}

function readProvince(from: XmlElement, path: string, values: AnswerValues) {
  return values.code(from, path, 'province', permitted.PROVINCES);
}

function readScore(it: XmlElement, values: AnswerValues) {
  return presentFields({
    ...readScoreValue(values.text(it, 'Result/Value')),
    narratives: readEach([it], ({ attributes }) => attributes.description?.trim() || undefined),
    reasons: readEach(findElements(it, 'Reasons/Reason'), ({ attributes }) => {
      return attributes.description?.trim() || attributes.code?.trim() || undefined;
    }),
    rejectCodes: readEach(findElements(it, 'RejectCodes/RejectCode'), ({ attributes }) => {
      return attributes.code?.trim() || undefined;
    }),
  });
}

function joinWords(...words: (string | undefined)[]): string | undefined {
  return words.filter((word) => word !== undefined).join(' ') || undefined;
}
