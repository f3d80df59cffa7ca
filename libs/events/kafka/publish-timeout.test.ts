// A publish ends within its time limit, and its unsent messages are never sent.
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Topic } from '../topics.ts';
import { describeWithKafka } from './test-kafka.ts';
import { createTestBus } from './test-kafka-bus.ts';
import { startProxiedKafka } from './test-proxied-kafka.ts';

const TOPIC: Topic = 'creditlane.decisions.v1';
const WITHIN_MS = 1_000;
const WITHIN = { timeout: 15_000 };
/** Below the client's own limit for a request, 15 s (client.ts), which is not the one that ends the publish. */
const LATEST_MS = 13_000;

const kafka = await startProxiedKafka();
afterAll(() => kafka?.close());

const message = (text: string) => ({
  topic: TOPIC,
  key: 'a',
  headers: {},
  value: Buffer.from(text),
});

describeWithKafka(kafka, 'a publish to brokers that do not answer', ({ open }) => {
  test('rejects in time, and its unsent messages are not delivered when the brokers answer again', async () => {
    const { config, proxy } = await open();
    const bus = createTestBus(config, { publishTimeoutMs: WITHIN_MS });
    onTestFinished(() => bus.close());
    proxy.pause();
    const startMs = performance.now();
    const late = /events could not be published: no answer within 1000 ms/;
    await expect(bus.publish([message('given up')])).rejects.toThrow(late);
    const tookMs = performance.now() - startMs;
    expect(tookMs).toBeGreaterThan(WITHIN_MS - 50);
    expect(tookMs).toBeLessThan(LATEST_MS);
    proxy.resume();
    // A publish that fails by its time limit, because the machine paused, may have reached the broker, and is handled twice.
    await vi.waitFor(() => bus.publish([message('next')]), WITHIN);
    const handled: string[] = [];
    await bus.subscribe({
      group: 'webhook-dispatcher',
      topics: [TOPIC],
      async handle(batch) {
        handled.push(...batch.map(({ value }) => Buffer.from(value).toString()));
      },
    });
    await vi.waitUntil(() => handled.includes('next'), WITHIN);
    expect(new Set(handled)).toEqual(new Set(['next']));
  });
});
