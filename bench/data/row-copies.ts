/** Many copies of a row that a service wrote. Only the columns in which the copies differ are named. */
import { runSql } from './sql.ts';

/** Past decisions to insert: `each` on every application, after its first one, AWAITING_DECISION. */
export interface PastDecisions {
  applicationIds: readonly string[];
  each: number;
}

export interface RowCopy {
  table: string;
  /** The SELECT of the row to copy. */
  original: string;
  /** The SQL expression of each column that differs; `original` and `past` (PAST below) are in scope. */
  set: Record<string, string>;
}

/** Every decision on 1,000 applications comes, round by round, before those on the next 1,000. */
const AT_A_TIME = 1_000;

// The rows are in order of time, and their ids are UUIDs of version 7 that rise with the time, as in
// production.
const PAST = `SELECT application.id AS application_id, round + 2 AS seq,
    now() - interval '1 day' + n * interval '10 ms' AS at,
    (to_char(n, 'FM000000000000') || '70008000000000000000')::uuid AS event_id
  FROM generate_series(0, $2::int - 1) AS round
  CROSS JOIN unnest($1::uuid[]) WITH ORDINALITY AS application (id, place)
  CROSS JOIN LATERAL (
    SELECT (place / ${AT_A_TIME} * $2::int + round) * ${AT_A_TIME} + place % ${AT_A_TIME}
  ) AS number (n)
  ORDER BY n`;

/**
 * Inserts one copy of the original row for each past decision. Throws when there is no original.
 * The statement is built of strings because its columns are those of the table.
 */
export async function copyRows(url: string, past: PastDecisions, rowCopy: RowCopy): Promise<void> {
  const { table, original, set } = rowCopy;
  const columns = await runSql(
    url,
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = $1 AND is_identity = 'NO' ORDER BY ordinal_position`,
    [table],
  );
  const names = columns.map(({ name }) => String(name));
  const values = names.map((name) => set[name] ?? `original.${name}`);
  const [copied] = await runSql(
    url,
    `WITH copy AS (
       INSERT INTO ${table} (${names.join(', ')})
       SELECT ${values.join(', ')} FROM (${PAST}) AS past CROSS JOIN (${original}) AS original
       RETURNING 1
     )
     SELECT count(*)::int AS count FROM copy`,
    [past.applicationIds, past.each],
  );
  const wanted = past.applicationIds.length * past.each;
  if (copied?.count !== wanted)
    throw new Error(`only ${copied?.count} of ${wanted} rows were inserted into ${table}`);
}
