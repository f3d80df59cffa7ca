import { describe, expect, test } from 'vitest';
import { readXml, XmlError } from './xml-document.ts';

const read = (text: string) => readXml(Buffer.from(text));
const ENTITY = '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>';

test('an element has its local name, its attributes, its children and its own text', () => {
  expect(read('<x:a b=" 1&amp;2"><c>d</c>e<![CDATA[<f>]]></x:a>')).toEqual({
    name: 'a',
    attributes: { b: ' 1&2' },
    text: 'e<f>',
    children: [{ name: 'c', attributes: {}, text: 'd', children: [] }],
  });
});

test('blanks before the XML declaration are skipped', () => {
  expect(read('\r\n <?xml version="1.0"?><a>b</a>\n').text).toBe('b');
});

describe('text that is no document or exceeds a limit is refused', () => {
  test.each([
    ['nothing', '', 'is not well-formed'],
    ['a page of HTML', '<html><br></html>', 'is not well-formed'],
    ['an end that is missing', '<a><b></b>', 'is not well-formed'],
    ['text after the root', '<a/>b', 'is not well-formed'],
    ['an unknown entity', '<a>&b;</a>', 'is not well-formed'],
    ['a control character', '<a>\u0001</a>', 'is not well-formed'],
    ['a reference to a control character', '<a>&#0;</a>', 'is not well-formed'],
    ['an attribute that is there twice', '<a b="1" b="2"/>', 'is not well-formed'],
    ['an entity bomb', `${ENTITY}<a>&c;</a>`, 'has a document type'],
    ['an external entity', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 'has a document type'],
    ['33 elements in each other', '<a>'.repeat(33), 'is more than 32 elements deep'],
    ['100,001 elements', `<a>${'<b/>'.repeat(100_000)}</a>`, 'has more than 100000 elements'],
    ['65 attributes', `<a${attributes(65)}/>`, 'has an element with more than 64 attributes'],
    ['more than 4 MiB', ' '.repeat(4 * 1024 * 1024 + 1), 'has more than 4194304 bytes'],
  ])('%s', (_name, text, problem) => {
    expect(() => read(text)).toThrow(XmlError);
    expect(() => read(text)).toThrow(problem);
  });
});

function attributes(count: number): string {
  return Array.from({ length: count }, (_, index) => ` a${index}="1"`).join('');
}

describe('encodings', () => {
  const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><a>Côté</a>`;

  test.each([
    ['UTF-8', Buffer.from(declared('UTF-8'))],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${declared('UTF-8')}`)],
    ['ISO-8859-1', Buffer.from(declared('ISO-8859-1'), 'latin1')],
    ['windows-1252', Buffer.from(declared('windows-1252'), 'latin1')],
    ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${declared('UTF-16')}`, 'utf16le')],
    ['UTF-8 that is declared as ISO-8859-1', Buffer.from(declared('ISO-8859-1'))],
  ])('%s gives the same text', (_name, bytes) => {
    expect(readXml(bytes).text).toBe('Côté');
  });

  const latin1 = (text: string) => Buffer.from(text, 'latin1');

  test.each([
    ['ISO-8859-1 without a declaration', 'ISO-8859-1', latin1('<a>Côté</a>')],
    ['windows-1252 that is declared as UTF-8', 'windows-1252', latin1(declared('UTF-8'))],
    ['ISO-8859-1 that the declaration alone names', 'utf-8', latin1(declared('ISO-8859-1'))],
    ['UTF-8', 'ISO-8859-1', Buffer.from(declared('UTF-8'))],
    ['UTF-16 with a byte order mark', 'ISO-8859-1', Buffer.from('\ufeff<a>Côté</a>', 'utf16le')],
  ])('%s whose charset is %s gives the same text', (_name, charset, bytes) => {
    expect(readXml(bytes, charset).text).toBe('Côté');
  });

  test('ISO-8859-1 whose charset is none of one byte for each character is refused', () => {
    expect(() => readXml(latin1('<a>Côté</a>'), 'ibm866')).toThrow(XmlError);
  });

  test.each([
    ['ISO-8859-1 that is declared as UTF-8', Buffer.from(declared('UTF-8'), 'latin1')],
    ['ISO-8859-1 without a declaration', Buffer.from('<a>Côté</a>', 'latin1')],
    ['UTF-16 without a byte order mark', Buffer.from(declared('UTF-16'), 'utf16le')],
    ['UTF-16 that ends within a character', Buffer.from('\ufeff<a/>', 'utf16le').subarray(0, -1)],
  ])('%s is refused', (_name, bytes) => {
    expect(() => readXml(bytes)).toThrow(XmlError);
  });
});
