import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/** Canada, the United States and others of the North American Numbering Plan. */
const NORTH_AMERICA = '1';

/**
 * A telephone number in the form of E.164, such as `+15145550143`, and its extension behind ` ext. `; undefined when the text is
 * none. A number without country code is Canadian, with its area code.
 */
export function parsePhoneNumber(text: string): string | undefined {
  const english = text.trim().replace(/\bposte\b/i, 'ext.');
  const found = parsePhoneNumberFromString(english, { defaultCountry: 'CA', extract: false });
  if (found === undefined || !found.isPossible()) return undefined;
  // A number of seven digits is possible, and nobody else can call it. The plans of other countries change.
  if (found.countryCallingCode === NORTH_AMERICA && !found.isValid()) return undefined;
  return found.ext === undefined ? found.number : `${found.number} ext. ${found.ext}`;
}
