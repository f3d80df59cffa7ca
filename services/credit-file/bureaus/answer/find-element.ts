/** Finds elements by their path below another one, such as "CNHeader/CreditFile". */
import { parseXml, type XmlElement } from './xml-document.ts';

/** The first element at the path. */
export function findElement(from: XmlElement | undefined, path: string): XmlElement | undefined {
  if (!path.includes('/')) return findChild(from, path);
  return path.split('/').reduce(findChild, from);
}

function findChild(from: XmlElement | undefined, name: string): XmlElement | undefined {
  return from?.children.find((child) => child.name === name);
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
 * envelope, where the document may also be written as text.
 *
 * Texts of an answer's own elements are never read as XML: a consumer's statement could hold a document.
 *
 * @throws XmlError if a text that looks like a document is none
 */
export function findAnswer(root: XmlElement, names: readonly string[]): XmlElement | undefined {
  const found = findInside(root, names);
  if (found !== undefined && found.children.length > 0) return found;
  const text = (found ?? findOnlyLeaf(root))?.text.trim() ?? '';
  return text.startsWith('<') ? findInside(parseXml(text), names) : found;
}

/** The element without children that is reached through the only child of each element but SOAP's header. */
function findOnlyLeaf(element: XmlElement): XmlElement | undefined {
  const children = element.children.filter(({ name }) => name !== 'Header');
  const [child] = children;
  if (child === undefined) return element;
  return children.length === 1 ? findOnlyLeaf(child) : undefined;
}

function findInside(element: XmlElement, names: readonly string[]): XmlElement | undefined {
  if (names.includes(element.name)) return element;
  for (const child of element.children) {
    const found = findInside(child, names);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All text of the element and of the elements inside it. */
export function textOf(element: XmlElement): string {
  return [element.text, ...element.children.map(textOf)].join(' ').trim();
}
