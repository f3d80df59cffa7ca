/**
 * Redrives: the requests of operators that a consumer handles its dead letters again. Each is a row, which is
 * the request, its queue, and the record of who asked for it and how it ended.
 */
import type { EventMessage } from '@creditlane/events/message';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { isCanonicalUuid } from '@creditlane/runtime/ids';
import type pg from 'pg';
import { OUTBOX_CONSUMER } from './dead-letters.ts';

/** The SQL statements of a migration that creates the redrives of dead letters. */
export const createRedrivesSql: readonly string[] = [
  'ALTER TABLE dead_letters ADD COLUMN handled_at timestamptz',
  `CREATE TABLE dead_letter_redrives (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    dead_letter_id bigint NOT NULL,
    requested_by text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT now(),
    taken_at timestamptz,
    finished_at timestamptz,
    outcome text CHECK (outcome IN ('handled', 'failed')),
    reason text
  )`,
  `CREATE UNIQUE INDEX dead_letter_redrives_unfinished ON dead_letter_redrives (dead_letter_id)
   WHERE finished_at IS NULL`,
  'CREATE INDEX dead_letter_redrives_of ON dead_letter_redrives (dead_letter_id, id)',
];

/** Which dead letters to handle again: one, or those that are not handled yet, of a type or of any. */
export interface RedriveFilter {
  readonly id: number | undefined;
  readonly type: string | undefined;
}

/** Requests per statement, so that each ends within the time of a statement. */
const MAX_REQUESTED = 1_000;

// An event without an id can never be handled: the inbox recognises events by it. The relay tries its own by itself.
const insertRequests = defineStatement<{ id: number; requested: boolean }>(
  'redrive_request',
  `WITH chosen AS (
     SELECT id FROM dead_letters
     WHERE handled_at IS NULL AND headers ->> 'ce_id' IS NOT NULL AND id > $4 AND consumer <> '${OUTBOX_CONSUMER}'
       AND ($2::bigint IS NULL OR id = $2) AND ($3::text IS NULL OR headers ->> 'ce_type' = $3)
     ORDER BY id LIMIT ${MAX_REQUESTED}
   ), inserted AS (
     INSERT INTO dead_letter_redrives (dead_letter_id, requested_by)
     SELECT id, $1 FROM chosen ORDER BY id
     ON CONFLICT (dead_letter_id) WHERE finished_at IS NULL DO NOTHING
     RETURNING dead_letter_id
   )
   SELECT id, dead_letter_id IS NOT NULL AS requested
   FROM chosen LEFT JOIN inserted ON dead_letter_id = id ORDER BY id`,
);

/** Requests redrives, and resolves to the ids of the dead letters that had none under way. */
export async function requestRedrives(
  db: Queryable,
  { id, type }: RedriveFilter,
  requestedBy: string,
): Promise<number[]> {
  const requested: number[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const values = [requestedBy, id ?? null, type ?? null, after];
    const rows = await insertRequests.run(db, values);
    requested.push(...rows.filter((row) => row.requested).map((row) => row.id));
    after = rows.length < MAX_REQUESTED ? undefined : rows.at(-1)?.id;
  }
  return requested;
}

// Its record is that of a redrive that has failed: `outcome` has no other word for it in databases of earlier versions.
const discard = defineStatement<{ id: number }>(
  'dead_letter_discard',
  `WITH discarded AS (
     UPDATE dead_letters SET handled_at = now()
     WHERE id = $1 AND handled_at IS NULL AND NOT EXISTS (
       SELECT FROM dead_letter_redrives WHERE dead_letter_id = $1 AND finished_at IS NULL)
     RETURNING id
   )
   INSERT INTO dead_letter_redrives (dead_letter_id, requested_by, finished_at, outcome, reason)
   SELECT id, $2, now(), 'failed', 'discarded: ' || $3 FROM discarded
   RETURNING dead_letter_id AS id`,
);

/**
 * Gives a dead letter up: it counts as handled without having had its effects, and is deleted as such. False for one that is
 * handled or has a redrive under way, and when there is none.
 */
export async function discardDeadLetter(
  db: Queryable,
  id: number,
  { requestedBy, reason }: { requestedBy: string; reason: string },
): Promise<boolean> {
  const rows = await discard.run(db, [id, requestedBy, reason]);
  return rows.length === 1;
}

/** A redrive that this process has taken, and the message to handle. */
export interface TakenRedrive {
  readonly id: number;
  readonly deadLetterId: number;
  readonly requestedBy: string;
  readonly message: EventMessage;
}

// The lock has one process at a time take the redrives of a consumer. It is a statement of its own, because only a later
// statement sees what the process that held the lock has taken.
const lockConsumer = defineStatement(
  'redrive_lock',
  `SELECT pg_advisory_xact_lock(hashtextextended('redrives ' || $1, 0))`,
);

const TAKEN_FOR = '1 minute';
/** Whether a process has the redrive. A time that is later by more was set before the database's clock was set back. */
const isTakenSql = (takenAt: string) =>
  `(${takenAt} BETWEEN now() - interval '${TAKEN_FOR}' AND now() + interval '${TAKEN_FOR}') IS TRUE`;

// A redrive that its process did not finish is taken again after TAKEN_FOR. The inbox recognises the event if that process had
// handled it. Until then later redrives of the key wait, because a consumer drops an event that comes after a later one.
const take = defineStatement<Omit<TakenRedrive, 'message'> & EventMessage>(
  'redrive_take',
  `WITH taken AS (
     UPDATE dead_letter_redrives SET taken_at = now()
     WHERE id = ANY (ARRAY(
       SELECT r.id FROM dead_letter_redrives AS r JOIN dead_letters AS d ON d.id = r.dead_letter_id
       WHERE r.finished_at IS NULL AND d.consumer = $1
         AND NOT ${isTakenSql('r.taken_at')}
         AND NOT EXISTS (
           SELECT FROM dead_letter_redrives AS under_way JOIN dead_letters AS earlier
             ON earlier.id = under_way.dead_letter_id
           WHERE under_way.finished_at IS NULL AND ${isTakenSql('under_way.taken_at')}
             AND earlier.consumer = $1 AND earlier.key = d.key AND earlier.id < d.id)
       ORDER BY d.id LIMIT $2 FOR UPDATE OF r))
     RETURNING id, dead_letter_id, requested_by
   )
   SELECT taken.id, d.id AS "deadLetterId", taken.requested_by AS "requestedBy",
     d.topic, d.key, d.headers, d.value
   FROM taken JOIN dead_letters AS d ON d.id = taken.dead_letter_id ORDER BY d.id`,
);

/**
 * Takes the consumer's requests for its oldest dead letters that no process has, in the order of the dead letters: none of
 * a key of which an earlier one is being handled.
 */
export async function takeRedrives(
  pool: pg.Pool,
  consumer: string,
  limit: number,
): Promise<TakenRedrive[]> {
  const queries = [lockConsumer.query([consumer]), take.query([consumer, limit])] as const;
  const [, rows] = await runPipeline(pool, queries);
  return rows.map(({ topic, key, headers, value, ...redrive }) => ({
    ...redrive,
    message: { topic, key, headers, value },
  }));
}

const finish = defineStatement<{ outcome: 'handled' | 'failed' }>(
  'redrive_finish',
  `WITH handled AS (
     UPDATE dead_letters AS d SET handled_at = now()
     WHERE d.id = $2 AND EXISTS (
       SELECT FROM inbox WHERE inbox.consumer = d.consumer AND inbox.event_id = $3::uuid)
     RETURNING d.id
   )
   UPDATE dead_letter_redrives AS r
   SET finished_at = now(), outcome = CASE WHEN handled.id IS NULL THEN 'failed' ELSE 'handled' END,
     reason = CASE WHEN handled.id IS NULL THEN split_part(d.reason, E'\\n', 1) END
   FROM dead_letters AS d LEFT JOIN handled ON handled.id = d.id
   WHERE r.id = $1 AND r.finished_at IS NULL AND d.id = $2
   RETURNING r.outcome`,
);

/**
 * Records how the redrive of a handled message ended: the inbox has its event, or it is a dead letter again. Resolves to
 * undefined when another process has recorded it.
 */
export async function finishRedrive(
  db: Queryable,
  { id, deadLetterId, message }: TakenRedrive,
): Promise<'handled' | 'failed' | undefined> {
  const { ce_id: eventId = '' } = message.headers;
  const values = [id, deadLetterId, isCanonicalUuid(eventId) ? eventId : null];
  const [row] = await finish.run(db, values);
  return row?.outcome;
}
