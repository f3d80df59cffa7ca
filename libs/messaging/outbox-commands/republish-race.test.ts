// Events that are republished reach Kafka before events whose publish had begun earlier.
import { describeWithKafka } from '@creditlane/events/kafka/test-kafka';
import { createTestBus } from '@creditlane/events/kafka/test-kafka-bus';
import { startProxiedKafka } from '@creditlane/events/kafka/test-proxied-kafka';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { appendToOutbox } from '../outbox.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import { decisionEvent, startTestRelay } from '../test-relay.ts';
import { republishOutbox } from './republish-outbox.ts';

const TOPIC = 'creditlane.decisions.v1';
const WITHIN_MS = 1_500;
const LONG_AGO = new Date(0);
const [EARLY, LATER] = [
  '0198c0de-0000-7000-8000-000000000001',
  '0198c0de-0000-7000-8000-000000000002',
];

const kafka = await startProxiedKafka();
afterAll(() => kafka?.close());

describeWithKafka(
  kafka,
  'events that are republished into a cluster that has lost its data',
  ({ open }) => {
    test('keep the order of a key whose later event was being published', async () => {
      const { config, proxy } = await open();
      const db = await openMessagingTestDatabase('republish_race');
      const bus = createTestBus(config, { publishTimeoutMs: WITHIN_MS });
      const { pool } = db;
      const begun: string[] = [];
      let publish: Promise<unknown> = Promise.resolve();
      const watched = {
        ...bus,
        publish(batch: Parameters<typeof bus.publish>[0]) {
          begun.push(...batch.map(({ headers }) => headers.ce_id ?? ''));
          const published = bus.publish(batch);
          publish = published.catch(() => undefined);
          return published;
        },
      };
      onTestFinished(async () => {
        await bus.close();
        await db.close();
      });
      const append = (tx: Queryable, id: string) =>
        appendToOutbox(tx, [{ ...decisionEvent('one'), id }]);
      await inTransaction(pool, async (tx) => {
        await append(tx, EARLY);
        // Marked as published, but the cluster has lost it.
        await tx.query('UPDATE outbox SET published_at = now()');
      });
      await append(pool, LATER);
      proxy.pause();
      startTestRelay(db, watched);
      await vi.waitUntil(() => begun.length > 0, { timeout: 15_000 });
      expect(new Set(begun)).toEqual(new Set([LATER]));
      expect(await republishOutbox(pool, LONG_AGO)).toBe(1);
      // The publish of the later event alone, which may be a second one on a busy machine, has failed by its time limit. The brokers
      // answer again at once: what its producer still sends would reach them before the republished event.
      await publish;
      proxy.resume();

      const handled: string[] = [];
      await bus.subscribe({
        group: 'webhook-dispatcher',
        topics: [TOPIC],
        handle: async (batch) => {
          handled.push(...batch.map(({ headers }) => headers.ce_id ?? ''));
        },
      });
      await vi.waitUntil(() => new Set(handled).size === 2, { timeout: 15_000 });
      expect(handled[0]).toBe(EARLY);
    });
  },
);
