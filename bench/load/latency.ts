/** How many operations ended per second, and how long each took. */
export interface Rate {
  perSecond: number;
  latencyMs: Latency;
}

export interface Latency {
  p50: number;
  p99: number;
  max: number;
}

/** The quantiles of times in milliseconds. Sorts the given array. Throws when it is empty. */
export function summarizeTimes(timesMs: number[]): Latency {
  timesMs.sort((a, b) => a - b);
  return { p50: quantile(timesMs, 0.5), p99: quantile(timesMs, 0.99), max: quantile(timesMs, 1) };
}

/** The nearest-rank quantile of a sorted array. */
function quantile(sorted: readonly number[], share: number): number {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (value === undefined) throw new Error('no operation ended within the measured time');
  return value;
}
