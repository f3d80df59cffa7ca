/** A credit file for readers who may not know the whole social insurance number. */
import type { CreditFile } from '../credit-file.ts';

/**
 * The file with all but the last three digits of the social insurance number masked, also inside other texts. In a file
 * without the whole number, every number of the persons' own statements that could be one is masked.
 */
export function maskFile(file: CreditFile): CreditFile {
  const sin = file.subject?.sin;
  const masked = sin ? { ...file, subject: { ...file.subject, sin: maskSin(sin) } } : file;
  const digits = sin?.replaceAll(/\D/g, '') ?? '';
  if (digits.length === 9) return maskTexts(masked, sinPattern(digits), maskSin);
  const { consumerStatements } = masked;
  if (consumerStatements === undefined) return masked;
  return { ...masked, consumerStatements: maskTexts(consumerStatements, ANY_SIN, maskSin) };
}

/** Nine digits, with up to three characters between the groups of three. */
const ANY_SIN =
  /(?<![\p{L}\p{N}])\d{3}[^\p{L}\p{N}]{0,3}\d{3}[^\p{L}\p{N}]{0,3}\d{3}(?![\p{L}\p{N}])/gu;

/**
 * The digits one after the other, with anything but letters and numbers between any two of them. What stands between
 * is no digit, so that the time of a search is proportional to the length of the text.
 */
function sinPattern(digits: string): RegExp {
  return new RegExp([...digits].join('[^\\p{L}\\p{N}]*'), 'gu');
}

/** The value with the mask of each match of the pattern in any of its texts. */
function maskTexts<T>(value: T, pattern: RegExp, mask: (found: string) => string): T {
  if (typeof value === 'string') return value.replaceAll(pattern, mask) as T;
  if (Array.isArray(value)) return value.map((item) => maskTexts(item, pattern, mask)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, it]) => [name, maskTexts(it, pattern, mask)]);
  return Object.fromEntries(entries) as T;
}

/** A number with all but its last three digits masked, whether it was masked before or not. */
export function maskSin(sin: string): string {
  const digits = sin.replaceAll(/\D/g, '');
  return digits.length < 3 ? '***-***-***' : `***-***-${digits.slice(-3)}`;
}
