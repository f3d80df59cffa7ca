/** One load at several levels, such as numbers of callers; the result is that of the fastest level. */
import type { Rate } from '../load/latency.ts';

export interface LoadLevels {
  /** The fastest of `byLevel`. */
  best: Rate;
  byLevel: Record<number, Rate>;
}

/** Runs the load at each level, one after the other. */
export async function measureLevels(
  levels: readonly number[],
  load: (level: number) => Promise<Rate>,
): Promise<LoadLevels> {
  const byLevel: LoadLevels['byLevel'] = {};
  for (const level of levels) {
    const { perSecond, latencyMs } = await load(level);
    byLevel[level] = { perSecond, latencyMs };
  }
  return withBest(byLevel);
}

/** The fastest level. */
export function bestLevel({ best, byLevel }: LoadLevels): number {
  return Number(Object.keys(byLevel).find((key) => byLevel[Number(key)] === best));
}

/** The faster of two results at each level. */
export function fasterOf(first: LoadLevels, second: LoadLevels): LoadLevels {
  const byLevel = { ...first.byLevel };
  for (const [key, rate] of Object.entries(second.byLevel)) {
    const level = Number(key);
    const before = byLevel[level]?.perSecond ?? 0;
    if (rate.perSecond > before) byLevel[level] = rate;
  }
  return withBest(byLevel);
}

function withBest(byLevel: LoadLevels['byLevel']): LoadLevels {
  const [best] = Object.values(byLevel).sort((a, b) => b.perSecond - a.perSecond);
  if (best === undefined) throw new Error('a load needs at least one level');
  return { best, byLevel };
}
