/** For the tests of services: what a service has stored for idempotency keys. */
import type pg from 'pg';

export interface StoredAnswerRow {
  key: string;
  request_digest: Buffer;
  response: Buffer;
}

/** The answers stored for requests of this caller, or of all callers. */
export async function readStoredAnswers(
  db: pg.Pool | pg.Client,
  callerId?: string,
): Promise<StoredAnswerRow[]> {
  const { rows } = await db.query<StoredAnswerRow>(
    `SELECT key, request_digest, response FROM idempotency
     WHERE caller_id = coalesce($1, caller_id)`,
    [callerId],
  );
  return rows;
}

/** Makes every stored answer of this caller, or of all callers, look this many hours old. */
export async function ageStoredAnswers(
  db: pg.Pool | pg.Client,
  hours: number,
  callerId?: string,
): Promise<void> {
  await db.query(
    `UPDATE idempotency SET created_at = now() - make_interval(hours => $1)
     WHERE caller_id = coalesce($2, caller_id)`,
    [hours, callerId],
  );
}
