// An answer that says the same in other XML gives the same file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readXml, type XmlElement } from './answer/xml-document.ts';
import { GOLDEN_INQUIRIES, readFile } from './test-formats.ts';
import { escapeXml } from './xml-text.ts';

/** How a document is written: by the numbers of a stream, what they decide in the order of the elements. */
interface Writing {
  next: () => number;
  prefix: string;
  usesCdata: boolean;
  hasUnknown: boolean;
  isShuffled: boolean;
}

const PLAIN: Writing = {
  ...{ next: () => 0, prefix: '', usesCdata: false },
  ...{ hasUnknown: false, isShuffled: false },
};

describe.each(['equifax', 'transunion'] as const)('an answer of %s', (name) => {
  const inquiry = GOLDEN_INQUIRIES[name];
  const whole = readFileSync(join(import.meta.dirname, 'golden', `${name}-full.xml`));
  const { file } = readFile(name, whole, inquiry);
  const root = readXml(whole);
  const numbers = fc.infiniteStream(fc.nat());
  const expectSameFile = (change: (next: () => number) => Writing) => {
    fc.assert(
      fc.property(numbers, (stream) => {
        const written = write(
          root,
          change(() => stream.next().value),
        );
        expect(readFile(name, written, inquiry).file).toEqual(file);
      }),
      { numRuns: 20 },
    );
  };

  test('with its elements in another order gives the same file', () => {
    expectSameFile((next) => ({ ...PLAIN, next, isShuffled: true }));
  });

  test.each(['efx:', 'ns0:', '_1:'])('with the prefix "%s" gives the same file', (prefix) => {
    expect(readFile(name, write(root, { ...PLAIN, prefix }), inquiry).file).toEqual(file);
  });

  test('with its texts as CDATA gives the same file', () => {
    const written = write(root, { ...PLAIN, usesCdata: true });
    expect(readFile(name, written, inquiry).file).toEqual(file);
  });

  test('with unknown elements and attributes in it gives the same file, and lists no known section', () => {
    fc.assert(
      fc.property(numbers, (stream) => {
        const next = () => stream.next().value;
        const written = write(root, { ...PLAIN, next, hasUnknown: true });
        const { alsoReported, ...read } = readFile(name, written, inquiry).file;
        const { alsoReported: listed = [], ...rest } = file;
        expect(read).toEqual(rest);
        const sections = new Set(listed.map(({ section }) => section));
        const others = alsoReported?.filter(({ section }) => !sections.has(section)) ?? [];
        expect(others.filter(({ section }) => !section.includes('Unknown'))).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  test('with a byte order mark, in UTF-8 and in UTF-16, gives the same file', () => {
    const text = `\u{FEFF}${write(root, PLAIN)}`;
    expect(readFile(name, Buffer.from(text), inquiry).file).toEqual(file);
    expect(readFile(name, Buffer.from(text, 'utf16le'), inquiry).file).toEqual(file);
  });

  test.each(['ISO-8859-1', 'windows-1252'])(
    'that declares itself as %s gives the same file',
    (encoding) => {
      const text = `<?xml version="1.0" encoding="${encoding}"?>${write(root, PLAIN)}`;
      expect(readFile(name, Buffer.from(text, 'latin1'), inquiry).file).toEqual(file);
    },
  );

  test('with all of these at once gives the same file', () => {
    expectSameFile((next) => ({ ...PLAIN, next, prefix: 'a:', usesCdata: true, isShuffled: true }));
  });
});

/** The document. The children of an element come in the order of the numbers, unless they are a list. */
function write(element: XmlElement, writing: Writing): string {
  const { name, attributes, text, children } = element;
  const { next, prefix, usesCdata, hasUnknown, isShuffled } = writing;
  const isList = !isShuffled || new Set(children.map((child) => child.name)).size < children.length;
  const keyed = children.map((child) => ({ child, key: isList ? 0 : next() }));
  const ordered = keyed.sort((one, other) => one.key - other.key).map(({ child }) => child);
  const isAttributed = hasUnknown && children.length > 0 && next() % 3 === 0;
  const attribute = isAttributed ? { unknown: 'x', ...attributes } : attributes;
  const written = Object.entries(attribute).map(([key, it]) => ` ${key}="${escapeXml(it)}"`);
  const contents = ordered.map((child) => {
    const unknown =
      hasUnknown && next() % 3 === 0 ? '<Unknown code="1"><Name>X</Name>Y</Unknown>' : '';
    return unknown + write(child, writing);
  });
  const isPlain = !usesCdata || text.trim() === '';
  const words = isPlain ? escapeXml(text) : `<![CDATA[${text}]]>`;
  return `<${prefix}${name}${written.join('')}>${words}${contents.join('')}</${prefix}${name}>`;
}
