/** A credit file for readers who may not know the whole social insurance number. */
import type { CreditFile } from '../credit-file.ts';

/** The file with all but the last three digits of the social insurance number masked. */
export function maskedFile(file: CreditFile): CreditFile {
  const sin = file.subject?.sin;
  if (sin === undefined || sin === '') return file;
  return { ...file, subject: { ...file.subject, sin: maskSin(sin) } };
}

/** A number with all but its last three digits masked, whether it was masked before or not. */
export function maskSin(sin: string): string {
  const digits = sin.replaceAll(/\D/g, '');
  return digits.length < 3 ? '***-***-***' : `***-***-${digits.slice(-3)}`;
}
