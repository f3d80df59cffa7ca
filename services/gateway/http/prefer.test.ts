import { describe, expect, test } from 'vitest';
import { preferredWaitS, readPreferences } from './prefer.ts';

const read = (header?: string) => Object.fromEntries(readPreferences(header));

describe('the preferences of a request', () => {
  test.each([
    { header: undefined, found: {} },
    { header: '', found: {} },
    { header: 'wait=10', found: { wait: '10' } },
    { header: 'force-pull', found: { 'force-pull': '' } },
    { header: 'Force-Pull, WAIT = 5', found: { 'force-pull': '', wait: '5' } },
    { header: 'wait="10"; foo=bar, respond-async', found: { wait: '10', 'respond-async': '' } },
    { header: 'a="x, wait=1; \\"y\\"", wait=2', found: { a: 'x, wait=1; "y"', wait: '2' } },
    { header: 'wait=3, wait=4', found: { wait: '3' } },
    { header: 'return=minimal;wait=9', found: { return: 'minimal' } },
    { header: ', ,wait=1,', found: { wait: '1' } },
    { header: '=5, wait=, (x), wait=6', found: { wait: '6' } },
    { header: '"wait=5', found: {} },
  ])('of $header are $found', ({ header, found }) => {
    expect(read(header)).toEqual(found);
  });

  test('are none in a header that no client needs so long', () => {
    expect(read(`wait=1, ${'x'.repeat(1_000)}`)).toEqual({});
  });

  test('are read where 300 quotes that nothing closes follow', () => {
    expect(read(`wait=1, ${',"\\'.repeat(300)}`)).toEqual({ wait: '1' });
  });
});

describe('the wait that a client prefers', () => {
  test.each([
    ['wait=10', 10],
    ['wait=30', 30],
    ['wait=31', 30],
    ['wait=99999999999999999999', 30],
    ['wait=0', 0],
    ['wait=-1', 0],
    ['wait=1.5', 0],
    ['wait', 0],
    ['wait=soon', 0],
    ['force-pull', 0],
  ])('%s is %d s', (header, seconds) => {
    expect(preferredWaitS(readPreferences(header), 30)).toBe(seconds);
  });
});
