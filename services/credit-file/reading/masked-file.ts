/** A credit file for readers who may not know the whole social insurance number. */
import type { CreditFile } from '../credit-file.ts';

/** The file with all but the last three digits of the social insurance number masked. */
export function maskedFile(file: CreditFile): CreditFile {
  const sin = file.subject?.sin;
  if (sin === undefined || sin === '') return file;
  return { ...file, subject: { ...file.subject, sin: `***-***-${sin.slice(-3)}` } };
}
