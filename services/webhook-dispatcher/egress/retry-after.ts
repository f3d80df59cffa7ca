/** Reads a Retry-After header (RFC 9110, 10.2.3). */

/** What a larger number of seconds counts as, as a larger age does in RFC 9111, 1.2.2. */
const MAX_DELAY_S = 2 ** 31;

/**
 * The delay in milliseconds that the header asks for, from `now` on; `undefined` when the header is
 * missing or is neither a number of seconds nor an HTTP date. The delay is 0 for a date that has passed.
 */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text), MAX_DELAY_S) * 1_000;
  // Only the forms that begin with a weekday are HTTP dates; Date.parse alone accepts far more.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
