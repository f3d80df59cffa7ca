/** For tests of the reconciliation: events as a decision writes them, and their outbox as a source. */
import type { EventMessage } from '@creditlane/events/message';
import { defineStatement } from '@creditlane/postgres/statement';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { OutboxService } from '@creditlane/proto/messaging/v1/outbox_service';
import { serviceIdentity } from '@creditlane/rpc/identity';
import { mountForTest } from '@creditlane/rpc/test-mount';
import { newId } from '@creditlane/runtime/ids';
import { createTestProcess } from '@creditlane/runtime/test-process';
import type pg from 'pg';
import { expect } from 'vitest';
import { appendToOutbox } from '../outbox.ts';
import { decisionEvent, decisionMessage } from '../test-relay.ts';
import type { Source } from './reconciler.ts';
import { outboxRoutes } from './written-events.ts';

/**
 * For a condition that holds once every transaction has ended that began earlier, in any database of the server: the tests of the
 * relay, in files that run at the same time, have transactions that last for half a minute on a busy machine.
 */
export const AFTER_TRANSACTIONS = { timeout: 45_000 };

/** The consumer that asks the source. */
export const CONSUMER = 'webhook-dispatcher';

/** As a decision whose event is `event_id`. */
const selectRecorded = defineStatement<{ event_id: string }>(
  'records_select',
  `SELECT event_id FROM records WHERE event_id > $1::uuid AND event_id <= $2::uuid
     AND NOT EXISTS (SELECT FROM outbox WHERE published_at IS NULL
       AND outbox.event_id = records.event_id)
   ORDER BY event_id LIMIT $3`,
);

/**
 * The outbox of a new test database as a source, with a new table `records` that is compared with it. `onAsked` gets the position of
 * each call.
 */
export async function openSource(
  { pool }: Pick<OpenTestDatabase, 'pool'>,
  onAsked: (position: string) => void = () => {},
): Promise<Source> {
  await pool.query('CREATE TABLE records (event_id uuid)');
  const routes = outboxRoutes({ pool, selectRecorded });
  const mount = mountForTest('decisions', [routes], [CONSUMER], createTestProcess('decisions'));
  const client = mount(OutboxService, CONSUMER);
  const identity = serviceIdentity(CONSUMER);
  return {
    name: 'decisions',
    list: (position, signal) => {
      onAsked(position);
      return client.listWrittenEvents({ position }, { identity, signal });
    },
  };
}

export interface WriteOptions {
  isPublished?: boolean;
  id?: string;
}

/** Writes an event as a decision does, a minute ago. The relay has published it, unless the test says otherwise. */
export async function writeEvent(
  by: pg.Pool | pg.PoolClient,
  { isPublished = true, id = newId() }: WriteOptions = {},
): Promise<EventMessage> {
  await appendToOutbox(by, [{ ...decisionEvent(id), id }]);
  await by.query(
    `UPDATE outbox SET created_at = now() - interval '1 minute',
       published_at = CASE WHEN $2 THEN now() - interval '1 minute' END WHERE event_id = $1`,
    [id, isPublished],
  );
  return decisionMessage(id, id);
}

export const idOf = ({ headers }: EventMessage) => headers.ce_id ?? expect.unreachable();
