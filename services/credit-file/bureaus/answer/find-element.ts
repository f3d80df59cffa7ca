/** Finds elements by their path below another one, such as "CNHeader/CreditFile". */
import { parseXml, type XmlElement } from './xml-document.ts';

/** The first element at the path. */
export function findElement(from: XmlElement | undefined, path: string): XmlElement | undefined {
  let element = from;
  for (const name of path.split('/')) {
    element = element?.children.find((child) => child.name === name);
  }
  return element;
}

/** All elements of the last name of the path below the first ones of the names before. */
export function findElements(from: XmlElement | undefined, path: string): readonly XmlElement[] {
  const end = path.lastIndexOf('/');
  const parent = end < 0 ? from : findElement(from, path.slice(0, end));
  const name = path.slice(end + 1);
  return parent?.children.filter((child) => child.name === name) ?? [];
}

/**
 * The first element of one of these names: the root, or anything inside it, such as the body of a SOAP
 * envelope, where it may also be written as text.
 * @throws XmlError if a text that looks like a document is none
 */
export function findAnswer(root: XmlElement, names: readonly string[]): XmlElement | undefined {
  const found = findInside(root, (element) => names.includes(element.name));
  if (found !== undefined) return found;
  const written = findInside(root, ({ text }) => text.trimStart().startsWith('<'));
  if (written === undefined) return undefined;
  return findInside(parseXml(written.text.trim()), (element) => names.includes(element.name));
}

function findInside(
  element: XmlElement,
  matches: (element: XmlElement) => boolean,
): XmlElement | undefined {
  if (matches(element)) return element;
  for (const child of element.children) {
    const found = findInside(child, matches);
    if (found !== undefined) return found;
  }
  return undefined;
}
