/** Reads the retry schedule as an operator writes it: "5s,5m,30m,2h". */

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const MAX_DELAYS = 50;

class RetryDelaysError extends Error {
  override name = 'RetryDelaysError';
  readonly loggable = true;
}

/** The pauses in milliseconds. Throws when one of them is no time span. */
export function parseDelays(text: string): number[] {
  const delays = text.split(',').map((item) => {
    const [, amount, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(item.trim()) ?? [];
    if (unit === undefined) throw new RetryDelaysError('must be time spans such as 5s,5m,2h');
    return Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS];
  });
  if (delays.length > MAX_DELAYS) throw new RetryDelaysError(`must be at most ${MAX_DELAYS}`);
  return delays;
}
