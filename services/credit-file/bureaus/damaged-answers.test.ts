import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findSchemaFaults } from '../test-credit-file-schema.ts';
import {
  equifaxAnswer,
  type FormatName,
  GOLDEN_INQUIRIES,
  readAnswer,
  transUnionAnswer,
} from './test-formats.ts';

const golden = (name: string) => readFileSync(join(import.meta.dirname, 'golden', name));
const WHOLE: Record<FormatName, Buffer> = {
  equifax: golden('equifax-full.xml'),
  transunion: golden('transunion-full.xml'),
};
const TRADE =
  '<AccountNumber>17</AccountNumber><Balance>20</Balance><BalanceAmount>020</BalanceAmount>';
const SHORT: Record<FormatName, Buffer> = {
  equifax: Buffer.from(equifaxAnswer(`<CNTrades><CNTrade>${TRADE}</CNTrade></CNTrades>`)),
  transunion: Buffer.from(transUnionAnswer(`<Trades><Trade>${TRADE}</Trade></Trades>`)),
};

describe.each(['equifax', 'transunion'] as const)('an answer of %s', (name) => {
  const whole = WHOLE[name].subarray(0, WHOLE[name].lastIndexOf('>') + 1);
  const anywhere = fc.integer({ min: 0, max: whole.length - 1 });

  test('that is cut at any byte is malformed', () => {
    const short = SHORT[name];
    const lengths = [...short.keys()];
    expect(
      lengths.filter((at) => readAnswer(name, short.subarray(0, at)).kind !== 'malformed'),
    ).toEqual([]);
    fc.assert(
      fc.property(anywhere, (at) => {
        expect(readAnswer(name, whole.subarray(0, at)).kind).toBe('malformed');
      }),
      { numRuns: 100 },
    );
  });

  test('with bytes that were changed is malformed, refused, foreign, or a file that the document describes', () => {
    const change = fc.tuple(anywhere, fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const changed = Buffer.from(whole);
        for (const [at, byte] of changes) changed[at] = byte;
        expectDescribed(name, changed);
      }),
      { numRuns: 200 },
    );
  });

  test('with a part that is missing or there twice is malformed, refused, foreign, or a file that the document describes', () => {
    fc.assert(
      fc.property(anywhere, anywhere, fc.constantFrom(0, 2), (one, other, times) => {
        const [start, end] = [Math.min(one, other), Math.max(one, other)];
        const part = whole.subarray(start, end);
        const parts = [whole.subarray(0, start), ...Array(times).fill(part), whole.subarray(end)];
        expectDescribed(name, Buffer.concat(parts));
      }),
      { numRuns: 100 },
    );
  });

  test('of any bytes is malformed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(readAnswer(name, bytes).kind).toBe('malformed');
      }),
      { numRuns: 200 },
    );
  });
});

function expectDescribed(name: FormatName, body: Uint8Array): void {
  const answer = readAnswer(name, body, GOLDEN_INQUIRIES[name]);
  expect(['malformed', 'refused', 'foreign', 'file']).toContain(answer.kind);
  if (answer.kind === 'file') expect(findSchemaFaults(answer.file)).toEqual([]);
}
