/** Reads what Equifax Canada answers: credit files, errors, or nothing of its format. */

import { HIT_TYPES } from '../../credit-file-values.ts';
import { type AnswerValueOptions, AnswerValues } from '../answer/answer-values.ts';
import { findAnswer, findElement, findElements } from '../answer/find-element.ts';
import { malformed, refusalReason, refused } from '../answer/read-answer.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import type { BureauAnswer, RefusalReason } from '../bureau.ts';
import { readReport } from './report.ts';

export interface EquifaxAnswerOptions extends AnswerValueOptions {
  /** Which of several reports is the file: the first with a hit and otherwise the first, or always the first. */
  readonly reportRule: 'FIRST_HIT' | 'FIRST';
}

const HIT_CODE = 'CNHeader/CreditFile/HitCode';

/** Reads the root element of an answer. */
export function readEquifaxAnswer(root: XmlElement, options: EquifaxAnswerOptions): BureauAnswer {
  const answer = findAnswer(root, ['EfxTransmit', 'CNErrorReport']);
  if (answer === undefined)
    return malformed('The answer has neither EfxTransmit nor CNErrorReport.');
  // A report without a hit code says nothing about whether the bureau knows the person.
  const reports = findElements(answer, 'EfxReport')
    .flatMap((report) => findElements(report, 'CNConsumerCreditReports/CNConsumerCreditReport'))
    .filter((report) => isCoded(findElement(report, HIT_CODE)));
  const report = chooseReport(reports, options);
  if (report !== undefined) {
    const values = new AnswerValues(options);
    const file = readReport(report, values);
    return { kind: 'file', file, unknownCodes: values.unknownCodes };
  }
  const errors = findElements(findAnswer(answer, ['CNErrorReport']), 'Errors/Error');
  return readErrors(errors, options);
}

function isCoded(element: XmlElement | undefined): boolean {
  const { code = '', description = '' } = element?.attributes ?? {};
  return `${code}${description}`.trim() !== '';
}

function chooseReport(
  reports: readonly XmlElement[],
  options: EquifaxAnswerOptions,
): XmlElement | undefined {
  if (options.reportRule === 'FIRST') return reports[0];
  const values = new AnswerValues(options);
  const isHit = (report: XmlElement) =>
    values.code(report, HIT_CODE, 'hitType', HIT_TYPES) === 'HIT';
  return reports.find(isHit) ?? reports[0];
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
