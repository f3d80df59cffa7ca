/** Reads the XML of requests into a tree. Document type declarations, and with them entities, are refused. */
import { SaxesParser } from 'saxes';

export interface XmlElement {
  /** Without the prefix. */
  name: string;
  /** "" when it has none. */
  namespace: string;
  attributes: Readonly<Record<string, string>>;
  children: XmlElement[];
  /** The element's own text, without the blanks around it. */
  text: string;
}

/** A request has fewer than ten levels. */
const MAX_DEPTH = 32;

/** The root element; undefined when the text is no XML that a request may have. */
export function readXml(text: string): XmlElement | undefined {
  const parser = new SaxesParser({ xmlns: true });
  const document: XmlElement = {
    name: '',
    namespace: '',
    attributes: {},
    children: [],
    text: '',
  };
  const open = [document];
  const refuse = (reason: string) => {
    throw new Error(reason);
  };
  parser.on('error', (error) => refuse(error.message));
  parser.on('doctype', () => refuse('a document type declaration'));
  parser.on('opentag', ({ local, uri, attributes }) => {
    if (open.length > MAX_DEPTH) refuse('too many levels');
    const values = Object.entries(attributes).map(([name, { value }]) => [name, value] as const);
    const element = {
      name: local,
      namespace: uri,
      attributes: Object.fromEntries(values),
      children: [],
      text: '',
    };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  const addText = (part: string) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += part;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const closed = open.pop();
    if (closed !== undefined) closed.text = closed.text.trim();
  });
  try {
    parser.write(text).close();
  } catch {
    return undefined;
  }
  return document.children[0];
}

/** The first element at the end of a path of names below another; undefined when there is none. */
export function findElement(
  from: XmlElement | undefined,
  ...path: string[]
): XmlElement | undefined {
  return path.reduce<XmlElement | undefined>(
    (element, name) => element?.children.find((child) => child.name === name),
    from,
  );
}

/** The text of that element; "" when there is none. */
export function textOf(from: XmlElement | undefined, ...path: string[]): string {
  return findElement(from, ...path)?.text ?? '';
}

/** The value of an attribute without blanks around it; "" when it is absent. */
export function attributeOf(element: XmlElement | undefined, name: string): string {
  return element?.attributes[name]?.trim() ?? '';
}
