/** Reads what TransUnion Canada answers: a credit file, errors, or nothing of its format. */
import { type AnswerValueOptions, AnswerValues } from '../answer/answer-values.ts';
import { chooseFile } from '../answer/choose-file.ts';
import { findAnswer, findElement, textOf } from '../answer/find-element.ts';
import { malformed, refusedBy } from '../answer/read-answer.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import type { BureauAnswer, Inquiry } from '../bureau.ts';
import { readReport } from './report.ts';
import type { PaymentPatternOptions } from './trade.ts';

export interface TransUnionAnswerOptions extends AnswerValueOptions, PaymentPatternOptions {}

/**
 * Reads the root element of an answer.
 * @param inquiry what was sent, with an empty reference if none was
 */
export function readTransUnionAnswer(
  root: XmlElement,
  options: TransUnionAnswerOptions,
  inquiry: Inquiry,
): BureauAnswer {
  const report = findReport(root);
  if (report === undefined)
    return malformed('The answer has neither REL4Report nor a SOAP result.');
  const errors = findElement(report, 'Errors');
  const isList = errors !== undefined && errors.children.length > 0;
  const given = (isList ? errors.children : [errors])
    .filter((it) => it !== undefined)
    .filter((it) => textOf(it) !== '');
  const isError = given.length > 0;
  const file = findElement(report, 'TU_FFR_Report');
  // A report without it says nothing about whether the bureau knows the person.
  const hit = findElement(file, 'Hit')?.text.trim() ?? '';
  if (file === undefined || hit === '') {
    return isError
      ? readErrors(given, options)
      : malformed('The answer has neither a report with a hit nor an error.');
  }
  const values = new AnswerValues(options);
  const creditFile = readReport(report, file, values, options);
  if (isError) {
    // The bureau did not look for the person, or could not: no file says so.
    if (creditFile.hitType !== 'HIT' && !hasContents(file)) return readErrors(given, options);
    for (const error of given) values.leaveOut(report, 'Errors', codeOf(error, options));
  }
  const dateOfBirth = values.dateOrMonth(file, 'PersonalInformation/DOB');
  const read = {
    file: creditFile,
    unknownCodes: values.unknownCodes,
    subject: { ...creditFile.subject, dateOfBirth },
    reference: values.text(report, 'UserReference'),
  };
  return chooseFile([read], inquiry);
}

/** Whether a report has anything but whether the person was found. Zeros are a filler. */
function hasContents(file: XmlElement): boolean {
  return file.children.some((child) => child.name !== 'Hit' && /[^0\s]/.test(textOf(child)));
}

/** REL4Report, or the result of the SOAP operation, which may have its contents without REL4Report. */
function findReport(root: XmlElement): XmlElement | undefined {
  const result = findAnswer(root, ['REL4Report', 'ProcessRequestXMLResult']);
  return findElement(result, 'REL4Report') ?? result;
}

function readErrors(errors: readonly XmlElement[], options: AnswerValueOptions): BureauAnswer {
  return refusedBy(
    options.tables,
    errors.map((error) => ({ code: codeOf(error, options) })),
  );
}

/** The names of the elements in an error are not publicly known, so the tables say how that of the code ends. */
function codeOf(error: XmlElement, { tables }: AnswerValueOptions): string {
  const ending = tables.elements.get('errorCode')?.toLowerCase();
  const coded = error.children.find(
    ({ name }) => ending !== undefined && name.toLowerCase().endsWith(ending),
  );
  return (coded === undefined ? (error.attributes.code ?? '') : textOf(coded)).trim();
}
