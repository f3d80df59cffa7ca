/** Two ways to load a system: as fast as so many callers can, or at a rate that waits for nobody. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Latency, type Rate, summarise } from './latency.ts';

/** One exchange; resolves to when it ended, by performance.now(). */
export type Exchange = () => Promise<number>;

/** What came of a load, and how many exchanges there were in all, the warm-up's included. */
export type ClosedLoad = Rate & { exchanges: number };

/** Callers that each begin the next exchange when their last one has ended. Measures after `warmUpMs`. */
export async function loadClosed(
  exchange: Exchange,
  { callers, warmUpMs, measureMs }: { callers: number; warmUpMs: number; measureMs: number },
): Promise<ClosedLoad> {
  const fromMs = performance.now() + warmUpMs;
  const untilMs = fromMs + measureMs;
  const timesMs: number[] = [];
  let exchanges = 0;
  const call = async () => {
    for (;;) {
      const startedMs = performance.now();
      if (startedMs >= untilMs) return;
      const endedMs = await exchange();
      exchanges += 1;
      if (endedMs >= fromMs && endedMs < untilMs) timesMs.push(endedMs - startedMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  const perSecond = timesMs.length / (measureMs / 1000);
  return { perSecond, latencyMs: summarise(timesMs), exchanges };
}

/** So many exchanges by so many callers, or as many as `maxMs` allows, to be measured by nobody. */
export async function warmUp(
  exchange: Exchange,
  { callers, exchanges, maxMs }: { callers: number; exchanges: number; maxMs: number },
): Promise<void> {
  const untilMs = performance.now() + maxMs;
  let left = exchanges;
  const call = async () => {
    for (; left > 0 && performance.now() < untilMs; left -= 1) await exchange();
  };
  await Promise.all(Array.from({ length: callers }, call));
}

export interface OpenLoad {
  /** From sending to the end of the exchange. */
  latencyMs: Latency;
  /** How much later than its time an exchange began: the generator's own trouble. */
  lateMs: Latency;
}

/** Begins exchanges at a fixed rate, however long they take. Those of the warm-up are not counted. */
export async function loadOpen(
  exchange: Exchange,
  { perSecond, warmUpMs, measureMs }: { perSecond: number; warmUpMs: number; measureMs: number },
): Promise<OpenLoad> {
  const startMs = performance.now();
  const total = Math.round((perSecond * (warmUpMs + measureMs)) / 1000);
  const latencyMs: number[] = [];
  const lateMs: number[] = [];
  const underWay: Promise<void>[] = [];
  const run = async (dueMs: number) => {
    const sentMs = performance.now();
    const endedMs = await exchange();
    if (dueMs < startMs + warmUpMs) return;
    latencyMs.push(endedMs - sentMs);
    lateMs.push(sentMs - dueMs);
  };
  for (let begun = 0; begun < total; await sleep(1)) {
    const nowMs = performance.now();
    for (; begun < total; begun += 1) {
      const dueMs = startMs + (begun * 1000) / perSecond;
      if (dueMs > nowMs) break;
      underWay.push(run(dueMs));
    }
  }
  await Promise.all(underWay);
  return { latencyMs: summarise(latencyMs), lateMs: summarise(lateMs) };
}
