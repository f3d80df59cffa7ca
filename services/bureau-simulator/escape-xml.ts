/** XML 1.0 has no way to write these characters: control characters and halves of surrogate pairs. */
const UNWRITABLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
const NAMED_REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** The text with every character that XML reserves as a reference. */
export function escapeXml(text: string): string {
  return (
    text
      .replace(UNWRITABLE, '')
      .replace(/[&<>"]/g, (character) => NAMED_REFERENCES[character] ?? '')
      // A reader turns tabs and line ends into spaces in attributes, and carriage returns into line feeds in texts.
      .replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`)
  );
}
