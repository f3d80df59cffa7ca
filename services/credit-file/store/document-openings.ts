/** The SQL of the openings of links to documents: counts them by minute, and takes those of minutes that are over. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { AuditRecord } from '../audit/audit-record.ts';

/** An opening of a link; `record` is what the audit log records of the link's first one in the minute. */
export interface Opening {
  minute: Date;
  fileId: string;
  /** The end of the link. */
  expiresAt: Date;
  record: AuditRecord;
}

const countRow = defineStatement<{ repeats: number }>(
  'document_opening_count',
  `INSERT INTO document_openings AS opened
     (minute, file_id, expires_at, retailer_id, record, repeats, last_at)
   VALUES ($1, $2, $3, $4, $5, 0, $6)
   ON CONFLICT (minute, file_id, expires_at) DO UPDATE SET repeats = opened.repeats + 1, last_at = $6
     WHERE opened.repeats < $7
   RETURNING repeats`,
);

/**
 * How many earlier openings the link has had in the minute; undefined, and then not counted, when these were
 * `maxPerMinute`. Waits for the transaction of an opening of the same link that is not committed.
 */
export async function countOpening(
  tx: Queryable,
  { minute, fileId, expiresAt, record }: Opening,
  maxPerMinute: number,
): Promise<number | undefined> {
  const { retailerId, at } = record;
  const key = [minute, fileId, expiresAt];
  const [row] = await countRow.run(tx, [
    ...key,
    retailerId,
    JSON.stringify(record),
    at,
    maxPerMinute - 1,
  ]);
  return row?.repeats;
}

const selectRetailers = defineStatement<{ retailerId: string }>(
  'document_openings_retailers',
  'SELECT DISTINCT retailer_id AS "retailerId" FROM document_openings WHERE minute < $1',
);

/** The retailers with openings in minutes before `before`. */
export async function findRetailersWithOpenings(db: Queryable, before: Date): Promise<string[]> {
  return (await selectRetailers.run(db, [before])).map(({ retailerId }) => retailerId);
}

/** The openings of a link in a minute after the first one. */
export interface RepeatedOpenings {
  /** The record of the first one, with the time of the last one. */
  record: AuditRecord;
  /** 0 without any. */
  repeats: number;
}

// SKIP LOCKED: another process takes the row.
const takeRows = defineStatement<{ record: AuditRecord; repeats: number; lastAt: Date }>(
  'document_openings_take',
  `DELETE FROM document_openings WHERE (minute, file_id, expires_at) IN (
     SELECT minute, file_id, expires_at FROM document_openings
     WHERE minute < $2 AND retailer_id = $1
     ORDER BY minute LIMIT $3
     FOR UPDATE SKIP LOCKED)
   RETURNING record, repeats, last_at AS "lastAt"`,
);

/** Deletes up to `limit` rows of the retailer's openings in minutes before `before`, oldest first. */
export async function takeOpenings(
  tx: Queryable,
  retailerId: string,
  before: Date,
  limit: number,
): Promise<RepeatedOpenings[]> {
  const rows = await takeRows.run(tx, [retailerId, before, limit]);
  return rows.map(({ record, repeats, lastAt }) => ({
    record: { ...record, at: lastAt },
    repeats,
  }));
}
