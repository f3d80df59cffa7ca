/** Reads what Equifax Canada answers: credit files, errors, or nothing of its format. */
import { type AnswerValueOptions, AnswerValues } from '../answer/answer-values.ts';
import { findAnswer, findElement, findElements } from '../answer/find-element.ts';
import { malformed, readAnswer } from '../answer/read-answer.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import type { BureauAnswer, RefusalReason } from '../bureau.ts';
import { readReport } from './report.ts';

export interface EquifaxAnswerOptions extends AnswerValueOptions {
  /** Which of several reports is the file: the first with a hit and otherwise the first, or always the first. */
  readonly reportRule: 'FIRST_HIT' | 'FIRST';
}

const HIT_CODE = 'CNHeader/CreditFile/HitCode';

/** Reads the body of an answer, whatever its bytes are. */
export function readEquifaxAnswer(body: Uint8Array, options: EquifaxAnswerOptions): BureauAnswer {
  return readAnswer(body, (root) => readRoot(root, options));
}

function readRoot(root: XmlElement, options: EquifaxAnswerOptions): BureauAnswer {
  const answer = findAnswer(root, ['EfxTransmit', 'CNErrorReport']);
  if (answer === undefined)
    return malformed('The answer has neither EfxTransmit nor CNErrorReport.');
  const reports = findElements(answer, 'EfxReport').flatMap((report) =>
    findElements(report, 'CNConsumerCreditReports/CNConsumerCreditReport'),
  );
  const report = chooseReport(reports, options.reportRule);
  if (report !== undefined) {
    if (findElement(report, HIT_CODE) === undefined) return malformed('A report has no HitCode.');
    const values = new AnswerValues(options);
    const file = readReport(report, values);
    return { kind: 'file', file, unknownCodes: values.unknownCodes };
  }
  const errors = findAnswer(answer, ['CNErrorReport']);
  if (errors === undefined) return malformed('The answer has neither a report nor an error.');
  return readErrors(findElements(errors, 'Errors/Error'), options);
}

function chooseReport(
  reports: readonly XmlElement[],
  rule: EquifaxAnswerOptions['reportRule'],
): XmlElement | undefined {
  const isHit = (report: XmlElement) =>
    findElement(report, HIT_CODE)?.attributes.code?.trim() === '1';
  return (rule === 'FIRST_HIT' ? reports.find(isHit) : undefined) ?? reports[0];
}

/** Of several errors the one with the most lasting reason counts. */
const REASONS: readonly RefusalReason[] = ['credentials', 'rejected', 'unavailable'];

function readErrors(errors: readonly XmlElement[], { tables }: EquifaxAnswerOptions): BureauAnswer {
  const read = errors.map((error) => {
    const text = (path: string) => findElement(error, path)?.text.trim() ?? '';
    const code = text('ErrorCode');
    const reason = REASONS.find((it) => it === tables.codes.error.get(code)) ?? 'rejected';
    return { reason, code, description: text('Description') };
  });
  for (const reason of REASONS) {
    const error = read.find((it) => it.reason === reason);
    if (error !== undefined) return { kind: 'refused', ...error };
  }
  return malformed('The error report has no error.');
}
