/** Reads a Retry-After header (RFC 9110, 10.2.3). */

/**
 * The pause that the header asks for, counted from `now`; `undefined` when it is missing or says
 * nothing sensible. Seconds and HTTP dates are understood; a date that has passed is 0.
 */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // Only the forms that begin with a weekday are HTTP dates; Date.parse alone accepts far more.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
