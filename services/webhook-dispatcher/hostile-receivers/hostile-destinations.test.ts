import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestFixture, type TestFixture, upTo } from '../test-fixture.ts';
import { accept } from '../test-receiver.ts';
import {
  type Receivers,
  startReceivers,
  usedBytesAfterGarbageCollection,
} from './test-receivers.ts';

const HOSTILE = [
  'endless 103 answers',
  'an endless chunk extension',
  'an endless zero-padded chunk size',
  'an endless reason phrase',
];
const EVENTS = 40;
const MAX_LATENCY_RATIO = 2;
/** Differences of latency below this are the scheduler's. */
const LATENCY_RESOLUTION_MS = 10;
const MAX_GROWTH_BYTES = 16 * 1_024 * 1_024;

let fixture: TestFixture;
let hostile: Receivers;
beforeEach(async () => {
  fixture = await createTestFixture();
  hostile = await startReceivers(new TestCertificateAuthority().issue());
});
afterEach(async () => {
  await fixture.close();
  await hostile.close();
});

test('four hostile destinations neither double the latency of another, nor keep memory, nor end leases', async () => {
  const ordinary = await fixture.addReceiver();
  const { bus, logged } = await fixture.start({
    DELIVERY_DEADLINE: '5s',
    LEASE: '1s',
    RETRY_DELAYS: '1h',
  });

  const urlOf = (port: string) => `http://localhost:${hostile.ports[port]}`;
  const measureLatencyMs = async (): Promise<number> => {
    const latenciesMs: number[] = [];
    for (const _ of upTo(EVENTS)) {
      const startMs = performance.now();
      const arrived = Promise.withResolvers<void>();
      ordinary.respondWith((received, response) => {
        latenciesMs.push(performance.now() - startMs);
        accept(received, response);
        arrived.resolve();
      });
      await bus.publish([fixture.event({ applicationId: randomUUID() })]);
      await arrived.promise;
      await delay(10);
    }
    return latenciesMs.toSorted((a, b) => a - b)[Math.floor(0.95 * EVENTS)] ?? 0;
  };

  const others = HOSTILE.map((name) => ({ name, ...fixture.integrations.add(urlOf('http:')) }));
  const measureBesideMs = (portOf: (name: string) => string) => {
    for (const { name, destinationId } of others) {
      fixture.integrations.set(destinationId, urlOf(portOf(name)));
    }
    return measureLatencyMs();
  };
  await measureLatencyMs();
  const beforeBytes = await usedBytesAfterGarbageCollection();
  let rounds = 1;
  const findRatio = async (): Promise<number> => {
    rounds += 2;
    // The same number of deliveries, so that the only difference is what the receivers answer.
    const usualMs = await measureBesideMs(() => 'http:');
    return (await measureBesideMs((name) => name)) / Math.max(usualMs, LATENCY_RESOLUTION_MS);
  };
  // Other work of the machine can disturb a measurement, so it is repeated before it counts.
  const ratios = [await findRatio()];
  while (Math.min(...ratios) > MAX_LATENCY_RATIO && ratios.length < 5) {
    ratios.push(await findRatio());
  }
  expect(Math.min(...ratios)).toBeLessThanOrEqual(MAX_LATENCY_RATIO);

  expect((await usedBytesAfterGarbageCollection()) - beforeBytes).toBeLessThan(MAX_GROWTH_BYTES);
  expect(logged()).not.toContainEqual(
    expect.objectContaining({ msg: 'leases could not be renewed' }),
  );
  // A delivery whose lease had ended would have been sent twice.
  expect(ordinary.received).toHaveLength(rounds * EVENTS);
}, 60_000);
