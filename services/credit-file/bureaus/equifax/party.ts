/** Courts, agencies and members of Equifax Canada, and the narratives of all records. */
import { type AnswerValues, presentFields, readEach } from '../answer/answer-values.ts';
import { findElement, findElements } from '../answer/find-element.ts';
import type { XmlElement } from '../answer/xml-document.ts';

export function readParty(from: XmlElement | undefined, values: AnswerValues) {
  return presentFields({
    id: values.text(from, 'CustomerNumber'),
    name: values.text(from, 'Name'),
  });
}

/** A party with its telephone number. */
export function readMember(from: XmlElement | undefined, values: AnswerValues) {
  const telephone = findElement(from, 'Telephone/ParsedTelephone');
  const number = `${values.text(telephone, 'AreaCode') ?? ''}${values.text(telephone, 'Number') ?? ''}`;
  const extension = values.text(telephone, 'Extension');
  return presentFields({
    id: values.text(from, 'CustomerNumber'),
    name: values.text(from, 'Name'),
    phoneNumber: (extension === undefined ? number : `${number} ext. ${extension}`) || undefined,
  });
}

export function readNarratives<T extends string>(
  from: XmlElement,
  values: AnswerValues,
  permitted: ReadonlySet<T>,
): T[] {
  const narratives = findElement(from, 'Narratives');
  const found = readEach(findElements(narratives, 'Narrative'), (it) => {
    const { code = '', description = '' } = it.attributes;
    return values.lookUp(from, 'Narratives/Narrative', {
      code: code.trim(),
      description: description.trim(),
      table: 'narrative',
      values: permitted,
    });
  });
  return [...new Set(found)];
}
