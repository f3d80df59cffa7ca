/**
 * Reads a Retry-After header (RFC 9110, 10.2.3). `libs/client` builds this file into its package, which also runs in
 * browsers: it imports nothing, and uses nothing that only Node has.
 */

/** What a larger number of seconds counts as, as a larger age does in RFC 9111, 1.2.2. */
const MAX_DELAY_S = 2 ** 31;

const SECONDS = /^(\d+(?:\.\d+)?)\s*(?:,|$)/;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
/** What follows a date: its zone, which is GMT when left out, and the end of the first value of a list. */
const ZONE = String.raw`(?: (?:GMT|UTC|(?<zone>[+-]\d{4})))?\s*(?:,|$)`;
/** The forms of HTTP dates (RFC 9110, 5.6.7): IMF-fixdate and that of RFC 850, and that of asctime. */
const DATES = [
  String.raw`^[A-Z][a-z]{2,8}, (?<day>\d{1,2})[ -](?<month>[A-Z][a-z]{2})[ -](?<year>\d{2}|\d{4}) (?<time>[\d:]{8})`,
  String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) {1,2}(?<day>\d{1,2}) (?<time>[\d:]{8}) (?<year>\d{4})`,
].map((form) => new RegExp(form + ZONE));

/**
 * The delay in milliseconds that the header asks for; undefined when it is missing, or is neither a number of seconds nor
 * an HTTP date. The delay is 0 for a date that has passed. Of a list, which two headers make, the first value counts; a
 * fraction of a second is no HTTP, but is sent.
 *
 * @param nowMs since the epoch
 */
export function retryAfterMs(header: string | null | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const seconds = SECONDS.exec(text)?.[1];
  if (seconds !== undefined) return Math.round(Math.min(Number(seconds), MAX_DELAY_S) * 1_000);
  const atMs = readDateMs(text, nowMs);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** Since the epoch; NaN when the text begins with no HTTP date. */
function readDateMs(text: string, nowMs: number): number {
  const groups = DATES.map((form) => form.exec(text)?.groups).find((found) => found !== undefined);
  const { day = '', month = '', year = '', time, zone = '+0000' } = groups ?? {};
  const monthNumber = String(MONTHS.indexOf(month) + 1).padStart(2, '0');
  const date = `${fullYear(year, nowMs)}-${monthNumber}-${day.padStart(2, '0')}`;
  return Date.parse(`${date}T${time}${zone.slice(0, 3)}:${zone.slice(3)}`);
}

/** Of two digits, those of the year that is at most 50 years ahead. */
function fullYear(year: string, nowMs: number): string {
  if (year.length !== 2) return year;
  const thisYear = new Date(nowMs).getUTCFullYear();
  const inThisCentury = thisYear - (thisYear % 100) + Number(year);
  return String(inThisCentury > thisYear + 50 ? inThisCentury - 100 : inThisCentury);
}
