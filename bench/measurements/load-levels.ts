/** The same load at several strengths: what a system can do is what it does at its best one. */
import type { Rate } from '../load/latency.ts';

/** `best` is the fastest. */
export interface Attempts {
  best: Rate;
  byStrength: Record<number, Rate>;
}

/** Tries one strength after the other. */
export async function attempt(
  strengths: readonly number[],
  load: (strength: number) => Promise<Rate>,
): Promise<Attempts> {
  const byStrength: Attempts['byStrength'] = {};
  for (const strength of strengths) {
    const { perSecond, latencyMs } = await load(strength);
    byStrength[strength] = { perSecond, latencyMs };
  }
  return bestOf(byStrength);
}

/** The strength at which the best was reached. */
export function bestStrength({ best, byStrength }: Attempts): number {
  return Number(Object.keys(byStrength).find((key) => byStrength[Number(key)] === best));
}

/** The faster of two attempts at each strength. */
export function merge(first: Attempts, second: Attempts): Attempts {
  const byStrength = { ...first.byStrength };
  for (const [key, rate] of Object.entries(second.byStrength)) {
    const strength = Number(key);
    const before = byStrength[strength]?.perSecond ?? 0;
    if (rate.perSecond > before) byStrength[strength] = rate;
  }
  return bestOf(byStrength);
}

function bestOf(byStrength: Attempts['byStrength']): Attempts {
  const [best] = Object.values(byStrength).sort((a, b) => b.perSecond - a.perSecond);
  if (best === undefined) throw new Error('nothing was attempted');
  return { best, byStrength };
}
