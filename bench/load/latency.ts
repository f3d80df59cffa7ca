/** How many operations ended per second, and how long each took. */
export interface Rate {
  perSecond: number;
  latencyMs: Latency;
}

export interface Latency {
  p50: number;
  p99: number;
  max: number;
  mean: number;
}

/** The quantiles of times in milliseconds. Sorts the given array. Throws when it is empty. */
export function summarizeTimes(timesMs: number[]): Latency {
  timesMs.sort((a, b) => a - b);
  const mean = timesMs.reduce((sum, ms) => sum + ms, 0) / timesMs.length;
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(timesMs, share));
  return { p50, p99, max, mean } as Latency;
}

/** The nearest-rank quantile of a sorted array. */
function quantile(sorted: readonly number[], share: number): number {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (value === undefined) throw new Error('no operation ended within the measured time');
  return value;
}
