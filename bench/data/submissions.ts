/** Submissions to write decisions on: copies of one that the platform made. */
import { newId } from '@creditlane/runtime/ids';
import pg from 'pg';

export interface Submission {
  applicationId: string;
  creditorId: string;
}

/**
 * Makes so many copies of a submission in the decisions service's database at `toUrl`, each of an
 * application of its own; gives their ids. The original may stand in another such database.
 */
export async function copySubmission(
  { fromUrl, toUrl = fromUrl }: { fromUrl: string; toUrl?: string },
  { applicationId, creditorId }: Submission,
  count: number,
): Promise<string[]> {
  // As the platform makes them: in an index, new ones stand together.
  const ids = Array.from({ length: count }, () => newId());
  const [original] = await run(
    fromUrl,
    `SELECT to_jsonb(s) AS row FROM submissions AS s WHERE application_id = $1 AND creditor_id = $2`,
    [applicationId, creditorId],
  );
  await run(
    toUrl,
    `WITH copy AS (
       INSERT INTO submissions
       SELECT row.* FROM unnest($1::uuid[]) AS id
       CROSS JOIN LATERAL jsonb_populate_record(NULL::submissions,
         $2::jsonb || jsonb_build_object('application_id', id)) AS row
       RETURNING *
     )
     INSERT INTO decisions (application_id, creditor_id, seq, recorded_at, decision)
     SELECT application_id, creditor_id, last_seq, submitted_at, 'AWAITING_DECISION' FROM copy`,
    [ids, original?.row],
  );
  // What a busy database's autovacuum would have done by now.
  await run(toUrl, 'ANALYZE submissions, decisions');
  return ids;
}

/** Runs one statement on a connection of its own. */
export async function run(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(text, values);
    return rows;
  } finally {
    await client.end();
  }
}
