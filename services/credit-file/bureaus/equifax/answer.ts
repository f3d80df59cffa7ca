/** Reads what Equifax Canada answers: credit files, errors, or nothing of its format. */

import { type AnswerValueOptions, AnswerValues } from '../answer/answer-values.ts';
import { chooseFile, type ReadReport } from '../answer/choose-file.ts';
import { findAnswer, findElement, findElements } from '../answer/find-element.ts';
import { malformed, refusalReason, refused } from '../answer/read-answer.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import type { BureauAnswer, Inquiry, RefusalReason } from '../bureau.ts';
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
    .flatMap((report) => findElements(report, 'CNConsumerCreditReports/CNConsumerCreditReport'))
    .filter((report) => isCoded(findElement(report, HIT_CODE)));
  if (reports.length > 0) {
    const eligible = options.reportRule === 'FIRST' ? reports.slice(0, 1) : reports;
    return chooseFile(
      eligible.map((report) => readWhole(report, options)),
      inquiry,
    );
  }
  const errors = findElements(findAnswer(answer, ['CNErrorReport']), 'Errors/Error');
  return readErrors(errors, options);
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

/** Of several errors the one with the most lasting reason counts. */
const REASONS: readonly RefusalReason[] = ['credentials', 'rejected', 'unavailable'];

function readErrors(errors: readonly XmlElement[], { tables }: EquifaxAnswerOptions): BureauAnswer {
  const codes = errors.map((error) => findElement(error, 'ErrorCode')?.text ?? '');
  for (const reason of REASONS) {
    const code = codes.find((it) => refusalReason(tables, it) === reason);
    if (code !== undefined) return refused(reason, code);
  }
  return malformed('The answer has neither a report with a hit code nor an error.');
}
