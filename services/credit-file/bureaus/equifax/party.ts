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

/** Where the number, the name and the telephone of a member are, below the element of the member. */
interface MemberPaths {
  id: string;
  name: string;
  telephone: string;
}

const MEMBER: MemberPaths = {
  id: 'CustomerNumber',
  name: 'Name',
  telephone: 'Telephone/ParsedTelephone',
};

/** A party with its telephone number. */
export function readMember(
  from: XmlElement | undefined,
  values: AnswerValues,
  paths: MemberPaths = MEMBER,
) {
  return presentFields({
    id: values.text(from, paths.id),
    name: values.text(from, paths.name),
    phoneNumber: readTelephone(findElement(from, paths.telephone), values),
  });
}

/** "514-257-4000", or "514-257-4000 ext. 22", whether or not the number has its hyphen in the answer. */
function readTelephone(from: XmlElement | undefined, values: AnswerValues): string | undefined {
  const number = values.text(from, 'Number')?.replace(/^(\d{3})(\d{4})$/, '$1-$2');
  const whole = [values.text(from, 'AreaCode'), number].filter((it) => it !== undefined).join('-');
  const extension = values.text(from, 'Extension');
  return (extension === undefined ? whole : `${whole} ext. ${extension}`.trim()) || undefined;
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
