/** The fonts of documents, read once for each thread. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { create, type Font } from 'fontkit';

export type FontName = 'regular' | 'bold';

/**
 * Source Sans 3 (SIL Open Font License): letters of all languages in Latin, Greek and Cyrillic script, and
 * digits of one width. Parsed fonts are shared by the documents of a thread: parsing them for each document
 * takes some 25 ms.
 */
export const FONTS: Record<FontName, Font> = {
  regular: readFont(
    import.meta.resolve('@expo-google-fonts/source-sans-3/400Regular/SourceSans3_400Regular.ttf'),
  ),
  bold: readFont(
    import.meta.resolve('@expo-google-fonts/source-sans-3/600SemiBold/SourceSans3_600SemiBold.ttf'),
  ),
};

/** Whether the fonts can print a character; both have the same ones. */
export function hasGlyph(codePoint: number): boolean {
  return FONTS.regular.hasGlyphForCodePoint(codePoint);
}

function readFont(url: string): Font {
  const font = create(readFileSync(fileURLToPath(url)));
  if ('fonts' in font) throw new TypeError(`${url} is a collection of fonts`);
  addMissingCharacters(font);
  return font;
}

/**
 * Gives a glyph that was first used without characters those of its next use, which documents give as its text. fontkit
 * keeps each glyph as it was first used, and a document that has "A" only as a part of "À" uses "A" without characters:
 * in every later document "A" would be printed and be missing in the text.
 */
function addMissingCharacters(font: Font): void {
  const getGlyph = font.getGlyph.bind(font);
  font.getGlyph = (id, characters = []) => {
    const glyph = getGlyph(id, characters);
    if (glyph.codePoints.length === 0) glyph.codePoints = characters;
    return glyph;
  };
}
