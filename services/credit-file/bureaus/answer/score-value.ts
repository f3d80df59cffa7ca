/** The value of a score: digits, after a sign or leading zeros, or a word such as "N/A". */
export function readScoreValue(text: string | undefined) {
  const [, sign, digits] = /^([+-]?)0*(\d{1,9})$/.exec(text ?? '') ?? [];
  return {
    // Adding 0 turns -0 into 0.
    number: digits === undefined ? undefined : Number(`${sign}${digits}`) + 0,
    sign: sign || undefined,
    value: digits ?? text,
  };
}
