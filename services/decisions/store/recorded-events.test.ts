import type { Queryable } from '@creditlane/postgres/statement';
import { planOf } from '@creditlane/postgres/test-plans';
import { inTransaction } from '@creditlane/postgres/transaction';
import { NIL_UUID } from '@creditlane/runtime/ids';
import { expect, test } from 'vitest';
import { decideOn, useSubmission } from '../test-decisions.ts';
import { selectRecordedEvents } from './recorded-events.ts';

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const fixture = useSubmission();

test('after a long backlog of the outbox, few pages are read for the events of decisions', async () => {
  const { service, submission } = fixture;
  // Without a decision the unpublished events are not read.
  await decideOn(service, submission);
  await service.settled();
  // In one transaction, so that the relay publishes none of them.
  await inTransaction(service.sql, async (tx) => {
    await tx.query(
      `INSERT INTO outbox (shard, topic, key, type, payload)
       SELECT n % 4, 'creditlane.decisions.v1', 'key ' || n, 'creditlane.decisions.v1.DecisionRecorded', '{}'
       FROM generate_series(1, 30000) AS n`,
    );
    await tx.query('UPDATE outbox SET published_at = now() WHERE published_at IS NULL');
  });
  await service.sql.query('VACUUM (ANALYZE) outbox_waiting');
  const client = await service.sql.connect();
  const select = (db: Queryable) => selectRecordedEvents.run(db, [NIL_UUID, LAST_ID, 10]);
  const plan = await planOf(client, select, 'any').finally(() => client.release());
  expect(plan).toContain('on outbox_waiting');
  // The first line is that of the whole statement. The backlog had some 500 pages.
  const [whole = ''] = /Buffers: .*/.exec(plan) ?? [];
  const pages = [...whole.matchAll(/(?:hit|read)=(\d+)/g)].map(([, count]) => Number(count));
  expect(pages.reduce((sum, count) => sum + count)).toBeLessThan(100);
});
