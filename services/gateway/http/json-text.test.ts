import { describe, expect, test } from 'vitest';
import { type JsonShape, parseJsonText } from './json-text.ts';

const parse = (text: string, maxValues = 100, shape?: JsonShape) =>
  parseJsonText(text, { maxValues, shape });

describe('JSON text', () => {
  test.each([
    '{}',
    ' [ ] ',
    '0',
    '-0.5e-10',
    '9007199254740991',
    '-9007199254740991',
    'true',
    'null',
    '"\\u00e9 \\ud83d\\ude97 \\n \\/ \\\\ \\""',
    '["\\u0000", "\\ude00", "\\ud83dx", "\\ud83d\\ud83d"]',
    '[9007199254740993, -900719925474099.3e1, 1e400]',
    '{"a":{"a":[1,2,{"a":null}]},"b":"x"}',
    '{"":"","__proto__":1,"constructor":2}',
    '\t{\r\n"a" : [ 1 , 2 ] }\n',
    '"é 🚗"',
  ])('%s means what JSON.parse says', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  test.each([
    '',
    ' ',
    '{',
    '[1,]',
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '{"a" 1}',
    '{"a":1 "b":2}',
    '[1 2]',
    '01',
    '1.',
    '.5',
    '+1',
    '1e',
    'NaN',
    'Infinity',
    'undefined',
    'tru',
    '"a',
    '"\n"',
    '"\\x41"',
    '"\\u12g4"',
    '{} {}',
    '// no',
    '\u00a01',
  ])('%j is refused, as JSON.parse refuses it', (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(() => parse(text)).toThrow(/\(line \d+, column \d+\)$/);
  });

  test.each([
    [
      'a property given twice',
      '{"x":{"a":1,"b":2,"a":3}}',
      'duplicate_property',
      'line 1, column 19',
    ],
    [
      'a property given twice, once with an escape sequence',
      '{"a":1,"\\u0061":2}',
      'duplicate_property',
      'line 1, column 8',
    ],
    ['nesting without end', '['.repeat(100_000), 'malformed_json', 'nested more than 64 deep'],
  ])('%s is refused, though JSON.parse accepts it', (_, text, code, message) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code }));
    expect(() => parse(text)).toThrow(message);
  });

  test('an error names line and column, and never quotes the text', () => {
    const text = '{\n  "sin": "046454286",\n  "decision": APPROVED\n}';
    expect(() => parse(text)).toThrow(
      'the body is not acceptable JSON: expected a value (line 3, column 15)',
    );
  });
});

describe('a limit of JSON text', () => {
  test('is kept when the text holds exactly as many values', () => {
    expect(parse('{"a":[1,{},"x"]}', 5)).toEqual({ a: [1, {}, 'x'] });
  });

  test.each(['[[],[],[],{}]', '{"a":1,"b":2,"c":3,"d":4}', `[${'0,'.repeat(100_000)}0]`])(
    'is refused with its name and position when the text holds more values (%#)',
    (text) => {
      expect(() => parse(text, 4)).toThrow(expect.objectContaining({ code: 'too_many_values' }));
      expect(() => parse(text, 4)).toThrow(
        /^the body has more than 4 values \(line 1, column \d+\)$/,
      );
    },
  );

  test('is kept by a value that is 64 levels below the text, and not by one below that', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}0${']'.repeat(levels)}`;
    expect(parse(nested(64), 100)).toEqual(JSON.parse(nested(64)));
    expect(() => parse(nested(65), 100)).toThrow(
      expect.objectContaining({ code: 'malformed_json' }),
    );
  });

  test('counts values before it looks at their syntax, so that the scan ends early', () => {
    expect(() => parse('[0,0,0,x', 3)).toThrow('more than 3 values');
  });
});

describe('an array of limited length', () => {
  const ids = { maxItems: 2 };
  const people = { maxItems: 3, items: { properties: new Map([['ids', ids]]) } };
  const shape = { properties: new Map<string, JsonShape>([['people', people]]) };

  test.each([
    '{"people":[{"ids":[1,2]},{"ids":[]},{}]}',
    '{"ids":[1,2,3,4],"people":[]}',
    '{"people":{"ids":[1,2,3,4]}}',
    '[1,2,3,4]',
  ])('%s is within its limits', (text) => {
    expect(parse(text, 100, shape)).toEqual(JSON.parse(text));
  });

  test.each([
    ['{"people":[1,2,3,4]}', '/people', '/people must have at most 3 items'],
    ['{"people":[{},{"ids":[1,2,3]}]}', '/people/1/ids', '/people/1/ids must have at most 2 items'],
    ['{"\\u0070eople":[1,2,3,x', '/people', '/people must have at most 3 items'],
  ])('%s is refused by its pointer', (text, pointer, message) => {
    expect(() => parse(text, 100, shape)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message,
        fields: [{ pointer, message: message.replace(/^\S+ /, '') }],
      }),
    );
  });
});
