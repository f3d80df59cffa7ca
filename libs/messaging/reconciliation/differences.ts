/** The tables of a consumer's reconciler: how far each source is compared, and which events are missing. */

import { runPipeline } from '@creditlane/postgres/pipeline';
import { definePurge, deleteOlderThanSql } from '@creditlane/postgres/retention';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type pg from 'pg';

/**
 * The SQL statements of a migration that creates the tables, and has the inbox keep how many effects each event must have; null
 * where none is known.
 */
export const createReconciliationSql: readonly string[] = [
  `CREATE TABLE reconciliation_positions (
    source text PRIMARY KEY,
    position text NOT NULL DEFAULT '',
    holder uuid NOT NULL,
    held_until timestamptz NOT NULL,
    compared_at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 50)`,
  `CREATE TABLE reconciliation_differences (
    event_id uuid PRIMARY KEY,
    source text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('not_handled', 'too_few_effects')),
    found_at timestamptz NOT NULL DEFAULT now()
  )`,
  'ALTER TABLE inbox ADD COLUMN expected_effects integer',
];

/** An event that is written and has not had its effect. */
export interface Difference {
  readonly eventId: string;
  readonly kind: 'not_handled' | 'too_few_effects';
}

const LEASE_SECONDS = 30;

// The replica with the lease of a source compares it; another one takes over half a minute after the last renewal. A lease
// that ends more than two lease times from now was taken before the database's clock was set back, and counts as ended.
const lease = defineStatement<{ position: string }>(
  'reconciliation_lease',
  `INSERT INTO reconciliation_positions AS p (source, holder, held_until)
   VALUES ($1, $2, now() + interval '${LEASE_SECONDS} s')
   ON CONFLICT (source) DO UPDATE SET holder = $2, held_until = excluded.held_until
   WHERE p.holder = $2 OR p.held_until NOT BETWEEN now() AND now() + interval '${2 * LEASE_SECONDS} s'
   RETURNING position`,
);

/**
 * Leases a source for half a minute, or renews the lease; resolves to the source's position and its missing events with
 * ids after `after`, or to undefined while another process has the lease.
 */
export async function leaseSource(
  db: Queryable,
  { source, holder }: { source: string; holder: string },
  after: string,
  limit: number,
): Promise<{ position: string; open: Difference[] } | undefined> {
  const [[leased], open] = await runPipeline(db, [
    lease.query([source, holder]),
    selectOpen.query([source, after, limit]),
  ]);
  return leased && { position: leased.position, open };
}

const advance = defineStatement<{ source: string }>(
  'reconciliation_advance',
  `UPDATE reconciliation_positions SET position = $3, compared_at = CASE WHEN $4 THEN now() ELSE compared_at END
   WHERE source = $1 AND holder = $2 RETURNING source`,
);

const insertDifferences = defineStatement<Difference>(
  'reconciliation_insert',
  `INSERT INTO reconciliation_differences (source, event_id, kind)
   SELECT $1, * FROM unnest($2::uuid[], $3::text[]) ON CONFLICT DO NOTHING
   RETURNING event_id AS "eventId", kind`,
);

/**
 * Records a comparison up to `position`, and what it found; resolves to the differences that were not known before. The time
 * of the last comparison changes only when it `isUpToDate`. Nothing is written when another process has the lease of the
 * source.
 */
export async function advanceSource(
  pool: pg.Pool,
  { source, holder }: { source: string; holder: string },
  { position, isUpToDate }: { position: string; isUpToDate: boolean },
  found: readonly Difference[],
): Promise<Difference[]> {
  const advanceTo = (db: Queryable) => advance.run(db, [source, holder, position, isUpToDate]);
  if (found.length === 0) {
    await advanceTo(pool);
    return [];
  }
  return inTransaction(pool, async (tx) => {
    if ((await advanceTo(tx)).length === 0) return [];
    return insertDifferences.run(tx, [source, ...columnsOf(found)]);
  });
}

const columnsOf = (found: readonly Difference[]) => [
  found.map(({ eventId }) => eventId),
  found.map(({ kind }) => kind),
];

const selectOpen = defineStatement<Difference>(
  'reconciliation_open',
  `SELECT event_id AS "eventId", kind FROM reconciliation_differences
   WHERE source = $1 AND event_id > $2 ORDER BY event_id LIMIT $3`,
);

const deleteDifferences = defineStatement(
  'reconciliation_resolve',
  'DELETE FROM reconciliation_differences WHERE event_id = ANY ($1::uuid[])',
);

export async function deleteResolved(db: Queryable, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length > 0) await deleteDifferences.run(db, [eventIds]);
}

const updateKind = defineStatement(
  'reconciliation_kind',
  `UPDATE reconciliation_differences AS d SET kind = found.kind
   FROM unnest($1::uuid[], $2::text[]) AS found (event_id, kind)
   WHERE d.event_id = found.event_id AND d.kind <> found.kind`,
);

/** Stores the kind that missing events have now: one that was not handled may have been, with too few effects. */
export async function updateKinds(db: Queryable, found: readonly Difference[]): Promise<void> {
  if (found.length > 0) await updateKind.run(db, columnsOf(found));
}

const selectUnhandled = defineStatement<{ id: string }>(
  'reconciliation_unhandled',
  // The inbox is read once for all events. The table dead_letters has an id, too, which a bare name would mean inside the
  // subquery.
  `SELECT written.id FROM (
     SELECT unnest($2::uuid[]) AS id
     EXCEPT SELECT event_id FROM inbox WHERE consumer = $1 AND event_id = ANY ($2::uuid[])
   ) AS written
   WHERE NOT EXISTS (SELECT FROM dead_letters
       WHERE consumer = $1 AND headers ->> 'ce_id' = written.id::text)`,
);

/** Of these events, those that the consumer has neither handled nor stored as dead letters. */
export async function findUnhandled(
  db: Queryable,
  consumer: string,
  eventIds: readonly string[],
): Promise<string[]> {
  const rows = await selectUnhandled.run(db, [consumer, eventIds]);
  return rows.map(({ id }) => id);
}

const selectState = defineStatement<{
  source: string;
  ageSeconds: number;
  kind: Difference['kind'] | null;
  missing: number;
}>(
  'reconciliation_state',
  `SELECT p.source, extract(epoch FROM now() - p.compared_at)::float8 AS "ageSeconds", d.kind,
     coalesce(d.missing, 0) AS missing
   FROM reconciliation_positions AS p
   LEFT JOIN (
     SELECT source, kind, count(*) AS missing FROM reconciliation_differences GROUP BY source, kind
   ) AS d USING (source)`,
);

/**
 * The seconds since the last comparison of each source, once for each kind of its missing events with their number;
 * `kind` is null where none is missing.
 */
export function readReconciliation(db: Queryable) {
  return selectState.run(db);
}

/**
 * The outbox keeps an event for a week, in which operators can publish it again. A difference that lasts longer is deleted
 * after as many days as a row of the inbox.
 */
export const purgeDifferences = definePurge(
  'reconciliation_purge',
  deleteOlderThanSql('reconciliation_differences', 'found_at', '30 days'),
);
