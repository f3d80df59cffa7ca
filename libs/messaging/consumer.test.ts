import { randomUUID } from 'node:crypto';
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import { TokenSigner } from '@creditlane/rpc/identity';
import { Closers } from '@creditlane/runtime/closers';
import { silentLog } from '@creditlane/runtime/test-log';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startConsumer } from './consumer.ts';
import { openMessagingTestDatabase } from './test-messaging-database.ts';
import { decisionMessage, keysOf } from './test-relay.ts';

const TOPIC = 'creditlane.decisions.v1';
const OLD_ID = '00000000-0000-4000-8000-000000000001';

let db: OpenTestDatabase;
beforeEach(async () => {
  db = await openMessagingTestDatabase('consumer');
  onTestFinished(() => db.close());
});

async function start() {
  const handled: string[] = [];
  const bus = createInProcessBus({ consumers: { [TOPIC]: ['test'] } });
  const signer = new TokenSigner({ issuer: 'test', ...generateIdentityKeys() });
  const closers = new Closers();
  const { pool, metrics } = db;
  const consumer = await startConsumer({
    ...{ consumer: 'test', topics: [TOPIC], publishers: ['decisions'] },
    handle: async (batch) => void handled.push(...keysOf(batch)),
    // No server listens on this port.
    endpoints: { decisions: { kind: 'grpc', address: '127.0.0.1:1' } },
    ...{ bus, pool, metrics, log: silentLog, signer, closers },
  });
  closers.add('consumer', () => consumer.close());
  onTestFinished(() => closers.close());
  return { bus, handled };
}

test('a consumer handles what is published, and measures lost events, dead letters and the days of its inbox', async () => {
  const { bus, handled } = await start();
  await bus.publish([decisionMessage('one'), decisionMessage('two')]);
  expect(handled).toEqual(['one', 'two']);
  const text = await db.metrics.text();
  expect(text).toContain('missing_events{consumer="test",source="decisions",kind="not_handled"} 0');
  expect(text).toContain('failures_total{metric="creditlane_missing_events"} 0');
  expect(text).toContain('failures_total{metric="creditlane_reconciliation_age_seconds"} 0');
  expect(text).toContain('creditlane_dead_letters{consumer="test"} 0');
  expect(text).toContain('table_partition_days_ahead{service="test",table="inbox"} 3');
});

test('rows past retention in the tables of a consumer are deleted after a minute', async () => {
  await db.pool.query(
    `INSERT INTO inbox VALUES ('test', '${OLD_ID}', now() - interval '31 days');
     INSERT INTO dead_letters (consumer, topic, key, headers, value, reason, handled_at)
       VALUES ('test', '${TOPIC}', 'one', '{}', '', 'none', now() - interval '31 days');
     INSERT INTO reconciliation_differences VALUES ('${OLD_ID}', 'decisions', 'not_handled', now() - interval '31 days')`,
  );
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  await start();
  await vi.advanceTimersByTimeAsync(60_000);
  const left = async () => {
    const { rows } = await db.pool.query(
      `SELECT (SELECT count(*) FROM inbox) + (SELECT count(*) FROM dead_letters)
         + (SELECT count(*) FROM reconciliation_differences) AS left`,
    );
    return rows[0].left;
  };
  await expect.poll(left).toBe(0);
});

test('a dead letter whose event was handled afterwards is not counted any more after a minute', async () => {
  const [handled, waiting] = [randomUUID(), randomUUID()];
  await db.pool.query(`INSERT INTO inbox VALUES ('test', $1), ('another', $2)`, [handled, waiting]);
  await db.pool.query(
    `INSERT INTO dead_letters (consumer, topic, key, headers, value, reason)
     SELECT 'test', $2, id, jsonb_build_object('ce_id', id), '', 'none' FROM unnest($1::text[]) AS id`,
    [[handled, waiting, 'no uuid'], TOPIC],
  );
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  await start();
  const counted = async () => /dead_letters\{.*\} (\d+)/.exec(await db.metrics.text())?.[1];
  expect(await counted()).toBe('3');
  await vi.advanceTimersByTimeAsync(60_000);
  await expect.poll(counted).toBe('2');
});
