/** Social insurance numbers as a document shows them. */

/** A number with all but its last three digits masked, whatever the caller of the document may read. */
export function maskSin(sin: string): string {
  const digits = sin.replaceAll(/\D/g, '');
  return digits.length < 3 ? '***-***-***' : `***-***-${digits.slice(-3)}`;
}
