import { setTimeout as delay } from 'node:timers/promises';
import {
  cpuMsOf,
  expectAtMost,
  medianOf,
  mediansInTurns,
  usedBytesAfterGarbageCollection,
} from '@creditlane/runtime/test-measures';
import { describe, expect, test } from 'vitest';
import { TLS_ANSWERS } from './test-answers.ts';
import { ANSWERS, useHostileEgress } from './test-hostile-egress.ts';

/** As multiples of what an ordinary exchange by TLS costs, which is 3 to 4 ms on both sides. */
const MAX_TLS_EXCHANGES = 2;
const MAX_LATENCY_RATIO = 2;
/** Differences of latency below this are the scheduler's. */
const LATENCY_RESOLUTION_MS = 5;
/** Between two posts: four times what a post takes. */
const POST_INTERVAL_MS = 6;
const MAX_GROWTH_MIB = 16;
const AT_ONCE = 16;
/** Fewer, because each has a TLS handshake. */
const AT_ONCE_BY_TLS = 4;

const egress = useHostileEgress();

/** The CPU time of an exchange on a new connection, and of what the receiver goes on to send. */
function measureCpuMs(exchange: () => Promise<unknown>): Promise<number> {
  return cpuMsOf(async () => {
    await exchange();
    await delay(5);
  });
}

/**
 * The median latency of posts to an ordinary receiver. Each counts from the time at which it was to begin,
 * so that a blocked event loop shows.
 */
async function measureLatencyMs(posts: number): Promise<number> {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  for (let n = 0; n < posts; n += 1) {
    const plannedMs = startMs + n * POST_INTERVAL_MS;
    // A timer of part of a millisecond fires early.
    await delay(Math.max(0, Math.ceil(plannedMs - performance.now())));
    const outcome = await egress.postToOrdinary('http:', 'ordinary');
    expect(outcome).toEqual({ kind: 'answered', status: 200 });
    latenciesMs.push(performance.now() - plannedMs);
  }
  return medianOf(latenciesMs);
}

describe.each(Object.entries(ANSWERS))('a receiver that sends %s', (name, answer) => {
  const { maxTlsExchanges = MAX_TLS_EXCHANGES } = answer;
  const isByTls = name in TLS_ANSWERS;

  test(`costs at most ${maxTlsExchanges} ordinary exchanges by TLS more than an ordinary one`, async () => {
    const measures = {
      byTls: () => measureCpuMs(() => egress.postToOrdinary('https:')),
      usual: () => measureCpuMs(() => egress.postToOrdinary(isByTls ? 'https:' : 'http:')),
      hostile: () => measureCpuMs(() => egress.postToHostile(name)),
    };
    const { byTls, usual, hostile } = await mediansInTurns(measures, 15);
    const exchanges = (hostile - usual) / byTls;
    expectAtMost(maxTlsExchanges, `CPU of ${name}, in exchanges by TLS`, exchanges);
  });

  test('to many requests at once does not double the latency of another destination', async () => {
    const length = isByTls ? AT_ONCE_BY_TLS : AT_ONCE;
    const measures = {
      usualMs: () => measureLatencyMs(20),
      besideMs: async () => {
        const exchanges = Array.from({ length }, () => egress.postToHostile(name));
        const latencyMs = await measureLatencyMs(50);
        await Promise.all(exchanges);
        return latencyMs;
      },
    };
    const { usualMs, besideMs } = await mediansInTurns(measures, 3);
    const ratio = besideMs / Math.max(usualMs, LATENCY_RESOLUTION_MS);
    expectAtMost(MAX_LATENCY_RATIO, `latency beside ${name}, as a multiple`, ratio);
  });
});

test('the memory that hostile answers take returns', async () => {
  const grownMib = async () => {
    const beforeBytes = await usedBytesAfterGarbageCollection();
    for (const name of Object.keys(ANSWERS)) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => egress.postToHostile(name)));
    }
    return ((await usedBytesAfterGarbageCollection()) - beforeBytes) / 2 ** 20;
  };
  const { grown } = await mediansInTurns({ grown: grownMib }, 3);
  expectAtMost(MAX_GROWTH_MIB, 'MiB that hostile answers leave', grown);
});
