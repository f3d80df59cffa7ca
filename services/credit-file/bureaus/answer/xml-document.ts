/** Reads XML that comes from outside: well-formed, without document type, within limits, or not at all. */
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { type SaxesAttributePlain, SaxesParser, type SaxesTagPlain } from 'saxes';

/** An element without its namespace: prefixes differ between installations of a bureau, local names do not. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text directly in the element, without that of its children. */
  readonly text: string;
}

/** An answer with 200 trades has 0.2 MB, 7,000 elements and a depth of 11 in a SOAP envelope. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_ELEMENTS = 100_000;
const MAX_ATTRIBUTES = 64;
const MAX_DEPTH = 32;

/** The text is not well-formed, exceeds a limit, or has a document type. The message has no text of it. */
export class XmlError extends LoggableError {}

/**
 * The root element of a document.
 * @param charset that of the document's Content-Type, if it names one
 * @throws XmlError
 */
export function readXml(bytes: Uint8Array, charset?: string): XmlElement {
  if (bytes.length > MAX_BYTES) throw new XmlError(`has more than ${MAX_BYTES} bytes`);
  // Some servers send line ends before the XML declaration, which XML does not permit.
  return parseXml(decode(bytes, charset).trimStart());
}

/** As `readXml`, of text: for a document inside an element of another one. */
export function parseXml(text: string): XmlElement {
  if (text.length > MAX_BYTES) throw new XmlError(`has more than ${MAX_BYTES} characters`);
  const parser = new SaxesParser();
  const top: MutableElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [top];
  let elements = 0;
  let attributes = 0;
  parser.on('error', ({ message }) => {
    throw new XmlError(`is not well-formed: ${withoutContent(message)}`);
  });
  // Without document types there are no entities to expand, neither from inside nor from outside.
  parser.on('doctype', () => {
    throw new XmlError('has a document type');
  });
  parser.on('opentagstart', () => {
    attributes = 0;
    elements += 1;
    if (elements > MAX_ELEMENTS) throw new XmlError(`has more than ${MAX_ELEMENTS} elements`);
    if (open.length > MAX_DEPTH) throw new XmlError(`is more than ${MAX_DEPTH} elements deep`);
  });
  parser.on('attribute', (_attribute: SaxesAttributePlain) => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES)
      throw new XmlError(`has an element with more than ${MAX_ATTRIBUTES} attributes`);
  });
  parser.on('opentag', (tag: SaxesTagPlain) => {
    const element: MutableElement = {
      name: localName(tag.name),
      attributes: tag.attributes,
      children: [],
      text: '',
    };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => void open.pop());
  const addText = (piece: string) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += piece;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.write(text).close();
  const [root] = top.children;
  if (root === undefined) throw new XmlError('has no root element');
  return root;
}

interface MutableElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: MutableElement[];
  text: string;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** The parser's message without names of elements and attributes, which may be anything. */
function withoutContent(message: string): string {
  return message.replace(/^(\d+:\d+: [^:.]*).*/s, '$1').slice(0, 100);
}

const BYTE_ORDER_MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];
const DECLARED_ENCODING = /^<\?xml[^>]*?\sencoding\s*=\s*["']([\w.-]{1,40})["']/i;
const SINGLE_BYTE_ENCODINGS = new Set(['iso-8859-1', 'latin1', 'windows-1252', 'cp1252']);

/**
 * UTF-8 whatever is named, because text of another encoding that is not plain ASCII is hardly ever valid
 * UTF-8; or else the encoding that the charset names, or the declaration (RFC 7303, 3), if it has one byte for each
 * character. Never with replacement characters, which would change names.
 */
function decode(bytes: Uint8Array, charset = ''): string {
  const mark = BYTE_ORDER_MARKS.find(([, start]) => start.every((byte, at) => bytes[at] === byte));
  const text = tryDecode(mark?.[0] ?? 'utf-8', bytes);
  if (text !== undefined) return text;
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 200));
  const declared = DECLARED_ENCODING.exec(start)?.[1] ?? '';
  const named = [charset, declared].map((it) => it.toLowerCase());
  const encoding = named.find((it) => SINGLE_BYTE_ENCODINGS.has(it));
  const other = encoding === undefined ? undefined : tryDecode(encoding, bytes);
  if (other === undefined) throw new XmlError('has bytes that its encoding does not permit');
  return other;
}

function tryDecode(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
