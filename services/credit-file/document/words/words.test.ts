import { describe, expect, test } from 'vitest';
import { ENGLISH } from './english.ts';
import { FRENCH } from './french.ts';
import type { Words } from './words.ts';

// The compiler checks that every label and every value of an enumeration has words: both are records of all.
const LANGUAGES: [string, Words][] = [
  ['English', ENGLISH],
  ['French', FRENCH],
];
/** Words that are the same in both languages, and names. */
const SAME_IN_BOTH =
  /^(Equifax|TransUnion|Type|Confidential|Date|Message|Service|Association|Proposal)$/;

describe.each(LANGUAGES)('%s', (_, words) => {
  test('no two values of an enumeration have the same words', () => {
    for (const [name, values] of Object.entries(words.enumerations)) {
      const texts = Object.values(values);
      expect(new Set(texts).size, name).toBe(texts.length);
    }
  });

  test('no words are empty, or the name of a value', () => {
    for (const text of textsOf(words)) expect(text).toMatch(/^(?![A-Z_]{4,}$).*\p{L}/u);
  });
});

test('every text has words of its own in French', () => {
  const french = textsOf(FRENCH);
  const same = textsOf(ENGLISH).filter((text, index) => text === french[index]);
  expect(same.filter((text) => !SAME_IN_BOTH.test(text))).toEqual([]);
});

test('English words are spelled as in Canada, and French ones say what a lone adjective leaves open', () => {
  expect(ENGLISH.labels.utilisation).toBe('Utilization');
  expect(textsOf(ENGLISH).filter((text) => /utilisation/i.test(text))).toEqual([]);
  // "Conjoint" alone is a spouse.
  expect(FRENCH.enumerations.association.JOINT).toBe('Compte conjoint');
});

function textsOf({ labels, enumerations, sections, shortPaymentRate }: Words): string[] {
  const groups = [labels, sections, shortPaymentRate, ...Object.values(enumerations)];
  return groups.flatMap((group) =>
    Object.entries(group)
      .sort()
      .map(([, text]) => String(text)),
  );
}
