import { describe, expect, test } from 'vitest';
import { parseJsonText } from './json-text.ts';

describe('JSON text', () => {
  test.each([
    '{}',
    ' [ ] ',
    '0',
    '-0.5e-10',
    'true',
    'null',
    '"\\u00e9 \\ud83d\\ude97 \\n \\/ \\\\ \\""',
    '{"a":{"a":[1,2,{"a":null}]},"b":"x"}',
    '{"":"","__proto__":1,"constructor":2}',
    '\t{\r\n"a" : [ 1 , 2 ] }\n',
    '"é 🚗"',
  ])('%s means what JSON.parse says', (text) => {
    expect(parseJsonText(text)).toEqual(JSON.parse(text));
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
    expect(() => parseJsonText(text)).toThrow(/\(line \d+, column \d+\)$/);
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
    ['U+0000', '["\\u0000"]', 'malformed_json', 'line 1, column 3'],
    ['a low surrogate first', '["\\ude00"]', 'malformed_json', 'lone surrogate'],
    ['a high surrogate before something else', '["\\ud83dx"]', 'malformed_json', 'lone surrogate'],
    ['a high surrogate before another', '["\\ud83d\\ud83d"]', 'malformed_json', 'lone surrogate'],
    ['nesting without end', '['.repeat(100_000), 'malformed_json', 'nested more than 64 deep'],
  ])('%s is refused, though JSON.parse accepts it', (_, text, code, message) => {
    expect(() => parseJsonText(text)).toThrow(expect.objectContaining({ code }));
    expect(() => parseJsonText(text)).toThrow(message);
  });

  test('an error names line and column, and never quotes the text', () => {
    const text = '{\n  "sin": "046454286",\n  "decision": APPROVED\n}';
    expect(() => parseJsonText(text)).toThrow(
      'the body is not acceptable JSON: expected a value (line 3, column 15)',
    );
  });
});
