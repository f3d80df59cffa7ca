/** A person's name, whose elements have the same names at both bureaus. */
import type { AnswerValues } from './answer-values.ts';
import type { XmlElement } from './xml-document.ts';

export function readName(from: XmlElement | undefined, values: AnswerValues) {
  return {
    firstName: values.text(from, 'FirstName'),
    middleName: values.text(from, 'MiddleName'),
    lastName: values.text(from, 'LastName'),
    suffix: values.text(from, 'Suffix'),
  };
}
