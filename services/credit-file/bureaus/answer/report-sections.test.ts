import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equifaxAnswer, type FormatName, readFile, transUnionAnswer } from '../test-formats.ts';

describe.each([
  ['equifax', equifaxAnswer, 'CNTrades', 'CNTrade', 'CNConsumerCreditReport'],
  ['transunion', transUnionAnswer, 'Trades', 'Trade', 'TU_FFR_Report'],
] as const)('an answer of %s', (name, write, trades, trade, report) => {
  const read = (sections: string) => readFile(name as FormatName, write(sections));

  test.each([
    ['with two entries', '<CNGarnishments><G/><G>1</G></CNGarnishments>', 2],
    ['with several fields', '<CNGarnishments><A>1</A><B>2</B></CNGarnishments>', 1],
    ['with a text alone', '<CNGarnishments>WORDS</CNGarnishments>', 1],
    ['with an attribute alone', '<CNGarnishments code="1"/>', 1],
    [
      'that comes twice',
      '<CNGarnishments><G/></CNGarnishments><CNGarnishments><G/></CNGarnishments>',
      2,
    ],
  ])('with an unknown section %s is listed and counted', (_what, sections, count) => {
    const { file, unknownCodes } = read(sections);
    expect(file.alsoReported).toEqual([{ section: 'CNGarnishments', count }]);
    expect(unknownCodes).toEqual(
      Array(count).fill({ section: `${report}/CNGarnishments`, code: '(not read)' }),
    );
  });

  test('with an empty unknown section lists nothing', () => {
    const { file, unknownCodes } = read('<CNGarnishments/><Others> </Others>');
    expect(file.alsoReported).toBeUndefined();
    expect(unknownCodes).toEqual([]);
  });

  test('with an unknown entry in a known section lists it by both names', () => {
    const { file } = read(`<${trades}><${trade}/><Loan><A>1</A></Loan></${trades}>`);
    expect(file.alsoReported).toEqual([{ section: `${trades}/Loan`, count: 1 }]);
  });

  test('with any unknown sections names each of them, up to a hundred', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^X[a-z]{1,80}$/), { maxLength: 120 });
    fc.assert(
      fc.property(names, (sections) => {
        const { file } = read(sections.map((it) => `<${it}>1</${it}>`).join(''));
        const expected = new Set(sections.map((it) => it.slice(0, 60)).slice(0, 100));
        expect(new Set(file.alsoReported?.map(({ section }) => section))).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });
});
