/** Submissions to record decisions on: copies of one that the platform stored. */
import { newId } from '@creditlane/runtime/ids';
import { runSql } from './sql.ts';

export interface Submission {
  applicationId: string;
  creditorId: string;
}

/**
 * Inserts `count` copies of a submission into the decisions database at `toUrl`, each with a new
 * application id, and returns these ids. The original may be in another decisions database.
 */
export async function copySubmission(
  { fromUrl, toUrl = fromUrl }: { fromUrl: string; toUrl?: string },
  { applicationId, creditorId }: Submission,
  count: number,
): Promise<string[]> {
  // Made as the services make ids, so that new ids are next to each other in an index.
  const ids = Array.from({ length: count }, () => newId());
  const [original] = await runSql(
    fromUrl,
    `SELECT to_jsonb(s) AS row FROM submissions AS s WHERE application_id = $1 AND creditor_id = $2`,
    [applicationId, creditorId],
  );
  await runSql(
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
  // Autovacuum would have done this by now if the rows had been inserted by requests.
  await runSql(toUrl, 'ANALYZE submissions, decisions');
  return ids;
}
