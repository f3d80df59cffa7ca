/** Many rows like one that a service wrote, without a word about the columns that they share with it. */
import { run } from './submissions.ts';

/** So many decisions on each of the applications, the first of which have had their first one. */
export interface Past {
  applicationIds: readonly string[];
  each: number;
}

export interface Copying {
  table: string;
  /** Selects the row to copy. */
  original: string;
  /** What differs, in SQL, by column: of the `original`, and of `past` as it is below. */
  set: Record<string, string>;
}

/** So many applications are decided on at the same time, each as often as it is, before the next ones. */
const AT_A_TIME = 1_000;

// Rows come in the order of time, and ids of version 7 rise with it, as those of the services do.
const PAST = `SELECT application.id AS application_id, round + 2 AS seq,
    now() - interval '1 day' + n * interval '10 ms' AS at,
    (to_char(n, 'FM000000000000') || '70008000000000000000')::uuid AS event_id
  FROM generate_series(0, $2::int - 1) AS round
  CROSS JOIN unnest($1::uuid[]) WITH ORDINALITY AS application (id, place)
  CROSS JOIN LATERAL (
    SELECT (place / ${AT_A_TIME} * $2::int + round) * ${AT_A_TIME} + place % ${AT_A_TIME}
  ) AS number (n)
  ORDER BY n`;

/** Inserts a row like the original for each decision of the past. Throws where there is no original. */
export async function copyRows(url: string, past: Past, copying: Copying): Promise<void> {
  const { table, original, set } = copying;
  const columns = await run(
    url,
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = $1 AND is_identity = 'NO' ORDER BY ordinal_position`,
    [table],
  );
  const names = columns.map(({ name }) => String(name));
  const values = names.map((name) => set[name] ?? `original.${name}`);
  const [copied] = await run(
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
  if (copied?.count !== wanted) throw new Error(`${copied?.count} of ${wanted} rows in ${table}`);
}
