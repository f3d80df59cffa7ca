/** The preferences of a request: the header Prefer of RFC 7240. */

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
/** A preference with its value, up to its parameters, which none of ours has. */
const PREFERENCE = new RegExp(`^\\s*(${TOKEN})(?:\\s*=\\s*(${TOKEN}|${QUOTED}))?\\s*(?:;|$)`);
/** Commas within quotes separate nothing. */
const MEMBER = new RegExp(`(?:${QUOTED}|[^,])+`, 'g');
/** Longer than any client's. */
const MAX_CHARACTERS = 1_000;

/**
 * The values of the preferences by their names in lower case; "" for a preference without a value. Of a
 * preference that is given twice the first counts, as section 2 says. What is no preference is left out.
 */
export function readPreferences(header: string | undefined): ReadonlyMap<string, string> {
  const preferences = new Map<string, string>();
  if (header === undefined || header.length > MAX_CHARACTERS) return preferences;
  for (const [member] of header.matchAll(MEMBER)) {
    const [, name, value = ''] = PREFERENCE.exec(member) ?? [];
    const key = name?.toLowerCase();
    if (key !== undefined && !preferences.has(key)) preferences.set(key, unquoted(value));
  }
  return preferences;
}

/** The whole seconds of the preference `wait`, at most `max`; 0 without one, and for what is no number. */
export function preferredWaitS(preferences: ReadonlyMap<string, string>, max: number): number {
  const value = preferences.get('wait') ?? '';
  return /^\d+$/.test(value) ? Math.min(Number(value), max) : 0;
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value;
}
