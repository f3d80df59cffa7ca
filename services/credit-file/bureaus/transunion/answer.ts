/** Reads what TransUnion Canada answers: a credit file, errors, or nothing of its format. */
import { type AnswerValueOptions, AnswerValues } from '../answer/answer-values.ts';
import { chooseFile } from '../answer/choose-file.ts';
import { findAnswer, findElement } from '../answer/find-element.ts';
import { malformed, refusalReason, refused } from '../answer/read-answer.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import type { BureauAnswer, Inquiry } from '../bureau.ts';
import { readReport } from './report.ts';

/**
 * Reads the root element of an answer.
 * @param inquiry what was sent, with an empty reference if none was
 */
export function readTransUnionAnswer(
  root: XmlElement,
  options: AnswerValueOptions,
  inquiry: Inquiry,
): BureauAnswer {
  const report = findReport(root);
  if (report === undefined)
    return malformed('The answer has neither REL4Report nor a SOAP result.');
  const errors = findElement(report, 'Errors');
  const error = errors?.children[0] ?? errors;
  const isError = error !== undefined && textOf(error) !== '';
  const file = findElement(report, 'TU_FFR_Report');
  // A report without it says nothing about whether the bureau knows the person.
  const hit = findElement(file, 'Hit')?.text.trim() ?? '';
  if (file === undefined || hit === '') {
    return isError
      ? readError(error, options)
      : malformed('The answer has neither a report with a hit nor an error.');
  }
  const values = new AnswerValues(options);
  const creditFile = readReport(report, file, values);
  if (isError) {
    // The bureau did not look for the person, or could not: no file says so.
    if (creditFile.hitType !== 'HIT' && !hasContents(file)) return readError(error, options);
    values.leaveOut(report, 'Errors', codeOf(error, options));
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

function readError(error: XmlElement, options: AnswerValueOptions): BureauAnswer {
  const code = codeOf(error, options);
  return refused(refusalReason(options.tables, code), code);
}

/** The names of the elements in an error are not publicly known, so the tables say how that of the code ends. */
function codeOf(error: XmlElement, { tables }: AnswerValueOptions): string {
  const ending = tables.elements.get('errorCode')?.toLowerCase();
  const coded = error.children.find(
    ({ name }) => ending !== undefined && name.toLowerCase().endsWith(ending),
  );
  return (coded === undefined ? (error.attributes.code ?? '') : textOf(coded)).trim();
}

function textOf(element: XmlElement): string {
  return [element.text, ...element.children.map(textOf)].join(' ').trim();
}
