/** What a body may have been before a framework parsed, printed or decoded it: tried when no signature matches. */

type Bytes = Uint8Array<ArrayBuffer>;

interface BodyVariant {
  bytes: Bytes;
  /** What happened to the body, as the end of "the body was …". */
  change: string;
}

/** Webhooks are far smaller; a larger body is not Creditlane's and not worth parsing before it is verified. */
const MAX_BYTES = 512 * 1024;

/** @param text the body, decoded as UTF-8 */
export function bodyVariants(body: Bytes, text: string): BodyVariant[] {
  if (body.length > MAX_BYTES) return [];
  const encode = (value: string): Bytes => new TextEncoder().encode(value);
  const variants: BodyVariant[] = [];
  // A framework decoded the bytes as Latin-1, one character a byte, and they were encoded again as UTF-8.
  if (/[\u0080-\u00ff]/.test(text) && !/[\u0100-\uffff]/.test(text)) {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    variants.push({ bytes, change: 'decoded with another character set than UTF-8' });
  }
  const parsed = parseJson(text);
  if (parsed === undefined) return variants;
  if (typeof parsed === 'string') {
    variants.push({ bytes: encode(parsed), change: 'encoded as a JSON string a second time' });
  }
  const printed = printJson(parsed);
  // Creditlane sends compact JSON. Indentation, spaces and escaped characters come from another printer.
  if (printed !== undefined && printed !== text) {
    variants.push({ bytes: encode(printed), change: 'parsed and printed again' });
  }
  return variants;
}

/** Undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the caller decides what this means.
    return undefined;
  }
}

/** Undefined for a value that is nested too deeply to be printed. */
function printJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // JSON.parse reads any depth, and JSON.stringify throws a RangeError from some thousand levels on.
    return undefined;
  }
}
