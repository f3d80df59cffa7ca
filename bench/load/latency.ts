/** Counts and times of one measurement. */

/** How fast something went, and how long each one took. */
export interface Rate {
  perSecond: number;
  latencyMs: Latency;
}

export interface Latency {
  p50: number;
  p99: number;
  max: number;
}

/** The usual summary of times in milliseconds; sorts the array it is given. */
export function summarise(timesMs: number[]): Latency {
  timesMs.sort((a, b) => a - b);
  return { p50: quantile(timesMs, 0.5), p99: quantile(timesMs, 0.99), max: quantile(timesMs, 1) };
}

/** The nearest-rank quantile of a sorted array. Throws when it is empty. */
function quantile(sorted: readonly number[], share: number): number {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (value === undefined) throw new Error('nothing was measured');
  return value;
}

/** A number with as many decimals as a reader can use. */
export function readable(value: number): string {
  const decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}
