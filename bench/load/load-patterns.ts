/** Two kinds of load: a closed loop of callers, and operations at a fixed rate. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Latency, type Rate, summarizeTimes } from './latency.ts';

/** One operation; resolves with the time of its end, by performance.now(). */
export type Operation = () => Promise<number>;

export interface ClosedLoadOptions {
  callers: number;
  warmUpMs: number;
  measureMs: number;
}

/** The measured rate, and the number of all operations, those of the warm-up included. */
export type ClosedLoad = Rate & { operations: number };

/** Each caller starts its next operation when its last one has ended. Measures after `warmUpMs`. */
export async function runClosedLoad(
  operation: Operation,
  { callers, warmUpMs, measureMs }: ClosedLoadOptions,
): Promise<ClosedLoad> {
  const fromMs = performance.now() + warmUpMs;
  const untilMs = fromMs + measureMs;
  const timesMs: number[] = [];
  let operations = 0;
  const call = async () => {
    for (;;) {
      const startedMs = performance.now();
      if (startedMs >= untilMs) return;
      const endedMs = await operation();
      operations += 1;
      if (endedMs >= fromMs && endedMs < untilMs) timesMs.push(endedMs - startedMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  const perSecond = timesMs.length / (measureMs / 1000);
  return { perSecond, latencyMs: summarizeTimes(timesMs), operations };
}

export interface WarmUpOptions {
  callers: number;
  operations: number;
  maxMs: number;
}

/** Runs this many operations, or as many as `maxMs` allows, without measuring. */
export async function runWarmUp(
  operation: Operation,
  { callers, operations, maxMs }: WarmUpOptions,
): Promise<void> {
  const untilMs = performance.now() + maxMs;
  let left = operations;
  const call = async () => {
    for (; left > 0 && performance.now() < untilMs; left -= 1) await operation();
  };
  await Promise.all(Array.from({ length: callers }, call));
}

export interface FixedRateOptions {
  perSecond: number;
  warmUpMs: number;
  measureMs: number;
}

export interface FixedRateLoad {
  /** From the start of an operation to its end. */
  latencyMs: Latency;
  /** How late operations started: the load generator's own delay. */
  lateMs: Latency;
}

/** The platform has refused an operation, because as many of its caller are under way as it takes. */
export class NotKeptUpError extends Error {
  override readonly name = 'NotKeptUpError';
}

/**
 * Starts operations at a fixed rate, however long they take. Those of the warm-up are not counted.
 * Starts no more once one has failed, and throws its error: a `NotKeptUpError` after the end of all others, so that
 * they are not under way during the next load.
 */
export async function runAtFixedRate(
  operation: Operation,
  { perSecond, warmUpMs, measureMs }: FixedRateOptions,
): Promise<FixedRateLoad> {
  const startMs = performance.now();
  const total = Math.round((perSecond * (warmUpMs + measureMs)) / 1000);
  const latencyMs: number[] = [];
  const lateMs: number[] = [];
  const underWay: Promise<void>[] = [];
  const failures: unknown[] = [];
  const run = async (dueMs: number) => {
    const startedMs = performance.now();
    const endedMs = await operation();
    if (dueMs < startMs + warmUpMs) return;
    latencyMs.push(endedMs - startedMs);
    lateMs.push(startedMs - dueMs);
  };
  for (let started = 0; started < total && failures.length === 0; await delay(1)) {
    const nowMs = performance.now();
    for (; started < total; started += 1) {
      const dueMs = startMs + (started * 1000) / perSecond;
      if (dueMs > nowMs) break;
      const operationRun = run(dueMs);
      operationRun.catch((error) => failures.push(error));
      underWay.push(operationRun);
    }
  }
  try {
    await Promise.all(underWay);
  } catch (error) {
    if (error instanceof NotKeptUpError) await Promise.allSettled(underWay);
    throw error;
  }
  return { latencyMs: summarizeTimes(latencyMs), lateMs: summarizeTimes(lateMs) };
}
