/** Reads what Equifax Canada answers: credit files, errors, or nothing of its format. */

import { type AnswerValueOptions, AnswerValues } from '../answer/answer-values.ts';
import { chooseFile, type ReadReport } from '../answer/choose-file.ts';
import { findAnswer, findElement, findElements } from '../answer/find-element.ts';
import { malformed, refusedBy } from '../answer/read-answer.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import type { BureauAnswer, Inquiry } from '../bureau.ts';
import { readReport } from './report.ts';

export interface EquifaxAnswerOptions extends AnswerValueOptions {
  /** Which of several reports may be the file: the first with a hit and otherwise the first, or the first alone. */
  readonly reportRule: 'FIRST_HIT' | 'FIRST';
}

const HIT_CODE = 'CNHeader/CreditFile/HitCode';

/**
 * Reads the root element of an answer.
 * @param inquiry what was sent
 */
export function readEquifaxAnswer(
  root: XmlElement,
  options: EquifaxAnswerOptions,
  inquiry: Inquiry,
): BureauAnswer {
  const answer = findAnswer(root, ['EfxTransmit', 'CNErrorReport']);
  if (answer === undefined)
    return malformed('The answer has neither EfxTransmit nor CNErrorReport.');
  // A report without a hit code says nothing about whether the bureau knows the person.
  const reports = findElements(answer, 'EfxReport')
    .flatMap((answered) =>
      findElements(answered, 'CNConsumerCreditReports/CNConsumerCreditReport').map((report) => ({
        report,
        requestNumber: answered.attributes.requestNumber?.trim() || undefined,
      })),
    )
    .filter(({ report }) => isCoded(findElement(report, HIT_CODE)));
  if (reports.length > 0) {
    const eligible = options.reportRule === 'FIRST' ? reports.slice(0, 1) : reports;
    const lowest = lowestOf(reports.map(({ requestNumber }) => requestNumber));
    return chooseFile(
      eligible.map(({ report, requestNumber }) => ({
        ...readWhole(report, options),
        doubts: [
          ...(isOtherSubjectType(report, options) ? (['SUBJECT_TYPE'] as const) : []),
          // One request was sent, so that reports with several numbers answer requests of somebody else, too.
          ...(requestNumber !== undefined && requestNumber !== lowest
            ? (['REQUEST_NUMBER'] as const)
            : []),
        ],
      })),
      inquiry,
    );
  }
  const errors = findElements(findAnswer(answer, ['CNErrorReport']), 'Errors/Error');
  return readErrors(errors, options);
}

/** A number as the bureau writes it; undefined without one. */
function lowestOf(numbers: readonly (string | undefined)[]): string | undefined {
  const given = numbers.filter((it) => it !== undefined);
  return given.toSorted((one, other) => Number(one) - Number(other))[0];
}

/** A report without a subject type is about the person of the inquiry, too. */
function isOtherSubjectType({ attributes }: XmlElement, { tables }: EquifaxAnswerOptions): boolean {
  const type = attributes.subjectType?.trim().toUpperCase() ?? '';
  return type !== '' && tables.codes.subjectType.get(type) !== 'SUBJECT';
}

function isCoded(element: XmlElement | undefined): boolean {
  const { code = '', description = '' } = element?.attributes ?? {};
  return `${code}${description}`.trim() !== '';
}

function readWhole(report: XmlElement, options: EquifaxAnswerOptions): ReadReport {
  const values = new AnswerValues(options);
  const file = readReport(report, values);
  const dateOfBirth = values.dateOrMonth(report, 'CNHeader/Subject/SubjectId/DateOfBirth');
  return {
    file,
    unknownCodes: values.unknownCodes,
    subject: { ...file.subject, dateOfBirth },
    reference: values.text(report, 'CNHeader/Request/CustomerReferenceNumber'),
  };
}

function readErrors(errors: readonly XmlElement[], { tables }: EquifaxAnswerOptions): BureauAnswer {
  if (errors.length === 0) {
    return malformed('The answer has neither a report with a hit code nor an error.');
  }
  return refusedBy(
    tables,
    errors.map((error) => ({
      code: findElement(error, 'ErrorCode')?.text ?? '',
      detail: findElement(error, 'AdditionalInformation')?.text,
    })),
  );
}
