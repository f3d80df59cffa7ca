/** Writes XML. An absent value gives no text at all, so that an absent field leaves no element behind. */

type Attributes = Readonly<Record<string, string | undefined>>;

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

/** An element with these attributes, without the absent ones, and with contents that are XML. */
export function element(name: string, attributes: Attributes, ...contents: string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value = '']) => ` ${key}="${escapeXml(value)}"`);
  const inner = contents.join('');
  const head = `<${name}${written.join('')}`;
  return inner === '' ? `${head}/>` : `${head}>${inner}</${name}>`;
}

/** An element with contents that are XML; "" when they are empty. */
export function group(name: string, ...contents: string[]): string {
  return contents.every((it) => it === '') ? '' : element(name, {}, ...contents);
}

/** An element with a text; "" when the text is absent. */
export function text(name: string, value: string | undefined): string {
  return value === undefined ? '' : element(name, {}, escapeXml(value));
}

/** An element around one element for each item; "" without items. */
export function list<T>(
  name: string,
  items: readonly T[] | undefined,
  write: (item: T) => string,
): string {
  return group(name, ...(items ?? []).map(write));
}
