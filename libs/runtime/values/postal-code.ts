/** The provinces and territories whose postal codes begin with each letter. */
const PROVINCES_OF_LETTER: Readonly<Record<string, readonly string[]>> = {
  A: ['NL'],
  B: ['NS'],
  C: ['PE'],
  E: ['NB'],
  G: ['QC'],
  H: ['QC'],
  J: ['QC'],
  K: ['ON'],
  L: ['ON'],
  M: ['ON'],
  N: ['ON'],
  P: ['ON'],
  R: ['MB'],
  S: ['SK'],
  T: ['AB'],
  V: ['BC'],
  X: ['NT', 'NU'],
  Y: ['YT'],
};

/** Offices of the federal government, some of which are across the river in Quebec. */
const GOVERNMENT = 'K1A';
const GOVERNMENT_PROVINCES = ['ON', 'QC'];

/** Canada Post's rule, as the message of a field that breaks it. */
export const POSTAL_CODE_RULE =
  'must be a Canadian postal code such as K1A 0B1: letter digit letter, digit letter digit, without the letters D, F, I, O, Q ' +
  'and U, and with another first letter than W and Z';

const POSTAL_CODE = /^[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z]\d[ABCEGHJ-NPRSTV-Z]\d$/;

/**
 * A Canadian postal code as Canada Post writes it, `K1A 0B1`; undefined when the text is none. The text may be in lower case and
 * have any spaces and dashes.
 */
export function parsePostalCode(text: string): string | undefined {
  const code = text.replaceAll(/[\s-]/g, '').toUpperCase();
  return POSTAL_CODE.test(code) ? `${code.slice(0, 3)} ${code.slice(3)}` : undefined;
}

/**
 * The provinces and territories in which a postal code may be, such as `['ON']`.
 *
 * @param code as `parsePostalCode` returns it
 */
export function provincesOf(code: string): readonly string[] {
  if (code.startsWith(GOVERNMENT)) return GOVERNMENT_PROVINCES;
  return PROVINCES_OF_LETTER[code.charAt(0)] ?? [];
}
