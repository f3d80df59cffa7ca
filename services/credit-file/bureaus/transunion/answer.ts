/** Reads what TransUnion Canada answers: a credit file, errors, or nothing of its format. */
import { type AnswerValueOptions, AnswerValues } from '../answer/answer-values.ts';
import { findAnswer, findElement } from '../answer/find-element.ts';
import { malformed, readAnswer } from '../answer/read-answer.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import type { BureauAnswer } from '../bureau.ts';
import { readReport } from './report.ts';

/** Reads the body of an answer, whatever its bytes are. */
export function readTransUnionAnswer(body: Uint8Array, options: AnswerValueOptions): BureauAnswer {
  return readAnswer(body, (root) => readRoot(root, options));
}

function readRoot(root: XmlElement, options: AnswerValueOptions): BureauAnswer {
  const report = findReport(root);
  if (report === undefined)
    return malformed('The answer has neither REL4Report nor a SOAP result.');
  const file = findElement(report, 'TU_FFR_Report');
  if (file !== undefined) {
    if (findElement(file, 'Hit') === undefined) return malformed('A report has no Hit.');
    const values = new AnswerValues(options);
    return {
      kind: 'file',
      file: readReport(report, file, values),
      unknownCodes: values.unknownCodes,
    };
  }
  const errors = findElement(report, 'Errors');
  const error = errors?.children[0] ?? errors;
  if (error === undefined || textOf(error) === '')
    return malformed('The answer has neither a report nor an error.');
  return readError(error, options);
}

/** REL4Report, or the result of the SOAP operation, which may have its contents without REL4Report. */
function findReport(root: XmlElement): XmlElement | undefined {
  const result = findAnswer(root, ['REL4Report', 'ProcessRequestXMLResult']);
  return findElement(result, 'REL4Report') ?? result;
}

/** The names of the elements in an error are not publicly known: one that ends in "Code" has the code. */
function readError(error: XmlElement, { tables }: AnswerValueOptions): BureauAnswer {
  const coded = error.children.find(({ name }) => /code$/i.test(name));
  const code = (coded === undefined ? (error.attributes.code ?? '') : textOf(coded)).trim();
  const described = error.children.filter((child) => child !== coded).map(textOf);
  const reason = tables.codes.error.get(code);
  return {
    kind: 'refused',
    reason: reason === 'credentials' || reason === 'unavailable' ? reason : 'rejected',
    code,
    description: described.join(' ').trim() || error.text.trim(),
  };
}

function textOf(element: XmlElement): string {
  return [element.text, ...element.children.map(textOf)].join(' ').trim();
}
