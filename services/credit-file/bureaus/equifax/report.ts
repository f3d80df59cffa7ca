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
import { ReportSections } from '../answer/report-sections.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import { readMember } from './party.ts';
import { readBankruptcies, readCollections, readLegalItems, readSecuredLoans } from './records.ts';
import { readTrades } from './trades.ts';

/** @param it CNConsumerCreditReport */
export function readReport(it: XmlElement, values: AnswerValues): CreditFile {
  const report = new ReportSections(it);
  const header = report.find('CNHeader');
  const file = presentFields<CreditFile>({
    source: 'EQUIFAX',
    ...readHeader(header, values),
    warnings: readWarnings(report, header),
    subject: readSubject(report, header, values),
    bankruptcies: readBankruptcies(report, values),
    collections: readCollections(report, values),
    legalItems: readLegalItems(report, values),
    securedLoans: readSecuredLoans(report, values),
    trades: readTrades(report, values),
    localInquiries: readEach(report.list('CNLocalInquiries/CNLocalInquiry'), (it) =>
      presentFields({
        ...values.dates(it, { date: '@date' }),
        customer: readMember(findElement(it, 'CustomerId'), values),
      }),
    ),
    foreignInquiries: readEach(report.list('CNForeignInquiries/CNForeignInquiry'), (it) =>
      presentFields({
        ...values.dates(it, { date: '@date' }),
        memberNameAndNumber: joinWords(
          // This element has the name of the member, not a province.
          values.text(it, 'InquiryProvince'),
          values.text(it, 'CityNameOrInquiryNumber'),
        ),
      }),
    ),
    specialServices: readEach(report.list(values.pathOf('specialService')), (it) =>
      presentFields({
        type: values.code(it, '', 'specialService', permitted.SPECIAL_SERVICE_TYPES),
        ...values.dates(it, { dateReported: values.pathOf('specialServiceDate') }),
        customer: readMember(it, values, {
          id: values.pathOf('specialServiceNumber'),
          name: values.pathOf('specialServiceName'),
          telephone: values.pathOf('specialServiceTelephone'),
        }),
      }),
    ),
    consumerStatements: readEach(report.list('CNConsumerStatements/CNConsumerStatement'), (it) =>
      presentFields({
        ...values.dates(it, { dateReported: 'DateReported', dateToBePurged: 'DateToBePurged' }),
        statement: values.text(it, 'Statement'),
      }),
    ),
    scores: readEach(report.list('CNScores/CNScore'), (it) => readScore(it, values)),
  });
  return presentFields({ ...file, alsoReported: report.alsoReported(values) }) ?? {};
}

/** The code, if any, of a warning that says that there is none. */
const NO_WARNING_CODES = new Set(['', '0']);
const NO_WARNING_TEXT = /^(no fraud\b|$)/i;

/** The warnings of the bureau's fraud detection, and those about the data of the file. */
function readWarnings(report: ReportSections, header: XmlElement | undefined) {
  const read = (it: XmlElement, source: 'FRAUD' | 'DATA') => {
    const code = it.attributes.code?.trim() ?? '';
    const text = it.attributes.description?.trim() || it.text.trim();
    const isNone = NO_WARNING_CODES.has(code) && NO_WARNING_TEXT.test(text);
    return isNone ? [] : [{ ...(code && { code }), ...(text && { text }), source }];
  };
  const frauds = report
    .list('CNFraudWarnings/CNFraudWarning')
    .flatMap((it) => findElements(it, 'Messages/Message'));
  const data = findElements(header, 'CreditFile/DataWarningMessages/DataWarningMessage');
  return [...frauds.flatMap((it) => read(it, 'FRAUD')), ...data.flatMap((it) => read(it, 'DATA'))];
}

function readHeader(header: XmlElement | undefined, values: AnswerValues) {
  const request = findElement(header, 'Request');
  const creditFile = findElement(header, 'CreditFile');
  return {
    customerNumber: values.text(request, 'CustomerNumber'),
    language: request && values.code(request, 'LanguageIndicator', 'language', permitted.LANGUAGES),
    id: values.text(creditFile, 'UniqueNumber'),
    ...(creditFile &&
      values.dates(creditFile, {
        fileSinceDate: 'FileSinceDate',
        lastActivityDate: 'DateOfLastActivity',
        requestedDate: 'DateOfRequest',
      })),
    bureau: presentFields({
      id: values.text(creditFile, 'FileOwner/BureauCode'),
      name: values.text(creditFile, 'FileOwner/BureauContactInformation'),
    }),
    hitType: creditFile && values.code(creditFile, 'HitCode', 'hitType', permitted.HIT_TYPES),
    hitStrength: values.words(creditFile, 'HitStrengthIndicator'),
  };
}

function readSubject(
  report: ReportSections,
  header: XmlElement | undefined,
  values: AnswerValues,
): CreditFile['subject'] {
  const subject = findElement(header, 'Subject');
  return presentFields<NonNullable<CreditFile['subject']>>({
    ...readName(findElement(subject, 'SubjectName'), values),
    sin: subject && values.sin(subject, 'SubjectId/SocialInsuranceNumber'),
    ...(subject &&
      values.dates(subject, {
        dateOfBirth: 'SubjectId/DateOfBirth',
        dateOfDeath: 'SubjectId/DateOfDeath',
      })),
    otherNames: readEach(report.list('CNOtherNames/CNOtherName'), (it) =>
      presentFields({
        type: values.code(it, '', 'otherName', permitted.OTHER_NAME_TYPES),
        ...readName(it, values),
      }),
    ),
    addressHistory: readEach(latestFirst(report, 'CNAddresses/CNAddress', ADDRESS_CODES), (it) =>
      presentFields({
        ...values.dates(it, { dateReported: 'DateReported' }),
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
          ...values.dates(it, {
            dateEmployed: values.pathOf('employmentStart'),
            dateLeft: values.pathOf('employmentEnd'),
          }),
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
function latestFirst(report: ReportSections, path: string, codes: readonly string[]): XmlElement[] {
  const rank = ({ attributes }: XmlElement) => {
    const index = codes.indexOf(attributes.code?.trim() ?? '');
    return index === -1 ? codes.length : index;
  };
  return report.list(path).toSorted((a, b) => rank(a) - rank(b));
}

function readProvince(from: XmlElement, path: string, values: AnswerValues) {
  return values.code(from, path, 'province', permitted.PROVINCES);
}

function readScore(it: XmlElement, values: AnswerValues) {
  const rejections = readEach(findElements(it, 'RejectCodes/RejectCode'), ({ attributes }) =>
    presentFields({
      code: attributes.code?.trim() || undefined,
      text: attributes.description?.trim() || undefined,
    }),
  );
  return presentFields({
    ...readScoreValue(values.text(it, 'Result/Value')),
    narratives: readEach([it], ({ attributes }) => attributes.description?.trim() || undefined),
    reasons: readEach(findElements(it, 'Reasons/Reason'), ({ attributes }) => {
      return attributes.description?.trim() || values.factor(attributes.code);
    }),
    rejectCodes: rejections.map(({ code }) => code).filter((code) => code !== undefined),
    rejectReasons: rejections,
  });
}

function joinWords(...words: (string | undefined)[]): string | undefined {
  return words.filter((word) => word !== undefined).join(' ') || undefined;
}
