import { setTimeout as delay } from 'node:timers/promises';
import {
  expectAtMost,
  mediansInTurns,
  usedBytesAfterGarbageCollection,
} from '@creditlane/runtime/test-measures';
import { test } from 'vitest';
import { upTo } from '../test-fixture.ts';
import { accept } from '../test-receiver.ts';
import { startBesideHostile } from './test-hostile-destinations.ts';

const EVENTS = 40;
const ROUNDS = 5;
const MAX_LATENCY_RATIO = 2;
/** Differences of latency below this are the scheduler's. */
const LATENCY_RESOLUTION_MS = 10;
const MAX_GROWTH_MIB = 16;

test('four hostile destinations neither double the latency of another, nor keep memory', async () => {
  const { ordinary, answerAs, publish } = await startBesideHostile('1s');

  /** The latency that 95 of 100 events do not exceed. */
  const measureLatencyMs = async (others: 'hostile' | 'ordinary'): Promise<number> => {
    answerAs(others);
    const latenciesMs: number[] = [];
    for (const _ of upTo(EVENTS)) {
      const startMs = performance.now();
      const arrived = Promise.withResolvers<void>();
      ordinary.respondWith((received, response) => {
        latenciesMs.push(performance.now() - startMs);
        accept(received, response);
        arrived.resolve();
      });
      await publish(1);
      await arrived.promise;
      await delay(10);
    }
    return latenciesMs.toSorted((a, b) => a - b)[Math.floor(0.95 * EVENTS)] ?? 0;
  };

  await measureLatencyMs('ordinary');
  const beforeBytes = await usedBytesAfterGarbageCollection();
  // The same number of deliveries, so that the only difference is what the receivers answer.
  const { usualMs, besideMs } = await mediansInTurns(
    { usualMs: () => measureLatencyMs('ordinary'), besideMs: () => measureLatencyMs('hostile') },
    ROUNDS,
  );
  const ratio = besideMs / Math.max(usualMs, LATENCY_RESOLUTION_MS);
  expectAtMost(MAX_LATENCY_RATIO, 'latency beside four hostile destinations, as a multiple', ratio);
  const grownMib = ((await usedBytesAfterGarbageCollection()) - beforeBytes) / 2 ** 20;
  expectAtMost(MAX_GROWTH_MIB, 'MiB that four hostile destinations leave', grownMib);
});
