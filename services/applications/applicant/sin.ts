/**
 * The nine digits of a social insurance number, or undefined when the text is none. Dashes and spaces
 * may separate the digits; the last digit is Luhn's check digit (ISO/IEC 7812-1, annex B).
 */
export function parseSin(text: string): string | undefined {
  const digits = text.replace(/[- ]/g, '');
  if (!/^\d{9}$/.test(digits) || digits === '000000000') return undefined;
  return luhnSum(digits) % 10 === 0 ? digits : undefined;
}

/** A number with all but its last three digits masked. An empty number stays empty. */
export function maskSin(sin: string): string {
  return sin === '' ? '' : `***-***-${sin.slice(-3)}`;
}

// The check digit is the last of nine, so the digits at odd indexes are doubled.
function luhnSum(digits: string): number {
  let sum = 0;
  for (const [index, digit] of [...digits].entries()) {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum;
}
