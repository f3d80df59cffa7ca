/** Reads JSON text strictly: refuses ambiguous text, and names the position in every refusal. */
import { invalid } from '@creditlane/rpc/fault';

const MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u([\da-fA-F]{4}))/y;
const WHITESPACE = /[ \t\n\r]*/y;

/**
 * The value of a JSON text (RFC 8259, within I-JSON, RFC 7493). A scan checks the text, JSON.parse reads it.
 *
 * Beyond what JSON.parse refuses, this refuses a property given twice in one object (parsers
 * disagree which one counts), U+0000 and lone surrogates (neither can be stored as text), and
 * nesting deeper than any body has. Throws an `invalid` Fault with line and column; it never quotes
 * the text, as JSON.parse's own errors do.
 */
export function parseJsonText(text: string): unknown {
  new Scan(text).document();
  return JSON.parse(text);
}

/** The name of a property, with its escape sequences decoded. */
function unescaped(name: string): string {
  return name.includes('\\') ? JSON.parse(`"${name}"`) : name;
}

class Scan {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#value(0);
    if (this.#at < this.#text.length) throw this.#malformed('nothing may follow the value');
  }

  #value(depth: number): void {
    if (depth > MAX_DEPTH) throw this.#malformed(`nested more than ${MAX_DEPTH} deep`);
    this.#skip(WHITESPACE);
    switch (this.#text[this.#at]) {
      case '{':
        this.#object(depth);
        break;
      case '[':
        this.#array(depth);
        break;
      case '"':
        this.#string();
        break;
      default:
        if (!this.#skip(NUMBER) && !this.#skip(LITERAL)) throw this.#malformed('expected a value');
    }
    this.#skip(WHITESPACE);
  }

  #object(depth: number): void {
    this.#at += 1;
    this.#skip(WHITESPACE);
    if (this.#take('}')) return;
    const names = new Set<string>();
    do {
      this.#skip(WHITESPACE);
      const startsAt = this.#at;
      if (this.#text[startsAt] !== '"') throw this.#malformed('expected a property name in quotes');
      this.#string();
      const name = unescaped(this.#text.slice(startsAt + 1, this.#at - 1));
      if (names.has(name)) {
        throw this.#refusal('duplicate_property', 'this property is given a second time', startsAt);
      }
      names.add(name);
      this.#skip(WHITESPACE);
      if (!this.#take(':')) throw this.#malformed('expected ":"');
      this.#value(depth + 1);
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#malformed('expected "," or "}"');
  }

  #array(depth: number): void {
    this.#at += 1;
    this.#skip(WHITESPACE);
    if (this.#take(']')) return;
    do this.#value(depth + 1);
    while (this.#take(','));
    if (!this.#take(']')) throw this.#malformed('expected "," or "]"');
  }

  #string(): void {
    this.#at += 1;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) break;
      if (Number.isNaN(code)) throw this.#malformed('the text ends within a string');
      if (code < 0x20) throw this.#malformed('a control character in a string must be escaped');
      if (code === BACKSLASH) this.#escape();
      else this.#at += 1;
    }
    this.#at += 1;
  }

  #escape(): void {
    const startsAt = this.#at;
    const unit = this.#escapedUnit();
    if (unit === 0) throw this.#malformed('U+0000 is not accepted', startsAt);
    if (unit < 0xd800 || unit > 0xdfff) return;
    // A pair is a high surrogate and then a low one, both escaped: raw text has no lone surrogates.
    const isPair =
      unit < 0xdc00 && this.#text[this.#at] === '\\' && (this.#escapedUnit() & 0xfc00) === 0xdc00;
    if (!isPair) throw this.#malformed('a lone surrogate is not accepted', startsAt);
  }

  /** Skips one escape. Returns the UTF-16 code unit of a `\u` escape, and 1 for any other escape. */
  #escapedUnit(): number {
    ESCAPE.lastIndex = this.#at;
    const match = ESCAPE.exec(this.#text);
    if (match === null) throw this.#malformed('this is no escape sequence');
    this.#at = ESCAPE.lastIndex;
    return match[1] === undefined ? 1 : Number.parseInt(match[1], 16);
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #malformed(what: string, at = this.#at) {
    return this.#refusal('malformed_json', `the body is not acceptable JSON: ${what}`, at);
  }

  #refusal(code: string, message: string, at: number) {
    const before = this.#text.slice(0, at).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    return invalid(code, `${message} (line ${before.length}, column ${column})`);
  }
}
