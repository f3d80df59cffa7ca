/** Texts of a file as the document's font can print them. */

/** Printed for a character that the font lacks, such as an emoji or a letter of another script. */
const MISSING = '\u25a1';
/** Without the no-break spaces, which amounts and dates contain. */
const BLANKS = /[ \t\n\v\f\r\u2028\u2029\u0085]+/g;
/** Control and format characters, such as those that reverse the direction of what follows. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu;
const LONE_SURROGATES = /\p{Cs}/gu;
/** Zero-width joiners and variation selectors only combine with characters that the font lacks. */
const COMBINED_EMOJI =
  /(\p{Extended_Pictographic}|\p{Regional_Indicator})[\u200d\ufe0f\u{1f3fb}-\u{1f3ff}]*/gu;

/**
 * A text in one line: composed, without control characters, with a sign for each character that the font
 * lacks. The characters keep the order in which they are stored, as the font has no script that reads from
 * right to left.
 */
export function printable(text: string, hasGlyph: (codePoint: number) => boolean): string {
  const visible = text
    .normalize('NFC')
    .replaceAll(BLANKS, ' ')
    .replaceAll(COMBINED_EMOJI, '$1')
    .replaceAll(LONE_SURROGATES, MISSING)
    .replaceAll(INVISIBLE, '');
  const printed = Array.from(visible, (character) =>
    hasGlyph(character.codePointAt(0) ?? 0) ? character : MISSING,
  );
  return printed.join('').trim();
}
