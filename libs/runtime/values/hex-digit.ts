/** The value of the hexadecimal digit with this ASCII code, or undefined for any other character. */
export function hexDigit(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lowerCase = code | 0x20;
  return lowerCase >= 0x61 && lowerCase <= 0x66 ? lowerCase - 0x57 : undefined;
}
