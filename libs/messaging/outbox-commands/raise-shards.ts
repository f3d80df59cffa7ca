/** Raises the number of an outbox's shards while its service runs: as many relays can publish at the same time. */

import { isLockTimeout } from '@creditlane/postgres/error-classes';
import { limitLockWaitQuery, whenUnlocked } from '@creditlane/postgres/lock-wait';
import type { Migration } from '@creditlane/postgres/migrate';
import { raiseFloor } from '@creditlane/postgres/raise-floor';
import { runQuery } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import type pg from 'pg';

export const MAX_SHARDS = 64;
/** What waits to be published is assigned anew while all writes wait: about 0.1 s. */
const MAX_UNPUBLISHED = 10_000;
const LOCKED_WITHIN_MS = 60_000;

export class ShardsError extends LoggableError {}

/**
 * The database itself assigns each new event to its shard, so that writers of every version agree, and an event that is
 * published again: an event of the same key may be in another shard by then. A mark does not call the function.
 */
function assignShardsSql(shards: number): string {
  return `
    CREATE OR REPLACE FUNCTION outbox_shard(key text) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE
      RETURN ((get_byte(sha256(convert_to(key, 'UTF8')), 0) * 256
        + get_byte(sha256(convert_to(key, 'UTF8')), 1)) % ${shards})::smallint;
    CREATE OR REPLACE FUNCTION assign_outbox_shard() RETURNS trigger LANGUAGE plpgsql AS
      $body$ BEGIN NEW.shard := outbox_shard(NEW.key); RETURN NEW; END $body$;
    CREATE OR REPLACE TRIGGER assign_outbox_shard BEFORE INSERT OR UPDATE ON outbox
      FOR EACH ROW WHEN (NEW.published_at IS NULL) EXECUTE FUNCTION assign_outbox_shard();
    ALTER TABLE outbox DROP CONSTRAINT IF EXISTS outbox_shard_check`;
}

/**
 * Raises the number of shards in one transaction, in which nothing is written to the outbox. The events that wait are
 * assigned anew, so that those of one key are in one shard always; all fences are raised, so that no relay marks what it
 * read before. From then on versions without the migrations `floor` do not start. Throws `ShardsError` when the number is
 * not larger, when too many events wait, or when other transactions do not let go of the outbox for a minute.
 */
export async function raiseShards(
  pool: pg.Pool,
  shards: number,
  floor: readonly Migration[],
): Promise<void> {
  const raise = () =>
    inTransaction(pool, async (tx) => {
      await raiseOnce(tx, shards);
      for (const migration of floor) await raiseFloor(tx, migration);
    });
  try {
    await whenUnlocked(raise, { withinMs: LOCKED_WITHIN_MS });
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new ShardsError('the outbox is locked by other transactions');
  }
}

async function raiseOnce(tx: pg.PoolClient, shards: number): Promise<void> {
  await runQuery(tx, limitLockWaitQuery());
  await tx.query('LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE');
  const { rows } = await tx.query<{ shards: number; waiting: number }>(
    `SELECT (SELECT count(*)::int FROM outbox_lease) AS shards, count(*)::int AS waiting
     FROM (SELECT FROM outbox WHERE published_at IS NULL LIMIT ${MAX_UNPUBLISHED + 1}) AS unpublished`,
  );
  const [now = { shards: 0, waiting: 0 }] = rows;
  if (shards <= now.shards) throw new ShardsError(`the outbox has ${now.shards} shards already`);
  if (now.waiting > MAX_UNPUBLISHED) throw new ShardsError('too many events wait to be published');
  await tx.query(assignShardsSql(shards));
  await tx.query('UPDATE outbox SET shard = outbox_shard(key) WHERE published_at IS NULL');
  await tx.query('UPDATE outbox_lease SET fence = fence + 1');
  await tx.query('INSERT INTO outbox_lease (shard) SELECT generate_series($1::int, $2::int)', [
    now.shards,
    shards - 1,
  ]);
}
