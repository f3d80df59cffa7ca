/** The SQL of forced pulls: whom those of the last day were about. */
import type { ApplicantOfRetailer } from '@creditlane/crypto/applicant-keys';
import { definePurge, PURGE_BATCH_ROWS } from '@creditlane/postgres/retention';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { PullRow } from '../pulls/pull.ts';

const lockPersons = defineStatement(
  'forced_pulls_lock_persons',
  `SELECT pg_advisory_xact_lock(hashtextextended('person ' || digest, 0))
   FROM (SELECT encode(unnest($1::bytea[]), 'hex') AS digest ORDER BY 1) AS sorted`,
);

/** Keeps other transactions from counting the forced pulls of the person until the transaction ends. */
export async function lockPerson(tx: Queryable, digests: readonly Buffer[]): Promise<void> {
  await lockPersons.run(tx, [digests]);
}

const count = defineStatement<{ count: number }>(
  'forced_pulls_count',
  'SELECT count_forced_pulls($1, $2, $3, $4) AS count',
);

/**
 * The number of forced pulls since `since`, of all retailers, that were about the applicant or about one with an equal digest. A
 * pull that ended without having been sent does not count.
 */
export async function countForcedPulls(
  tx: Queryable,
  { applicantId, source }: Pick<PullRow, 'applicantId' | 'source'>,
  digests: readonly Buffer[],
  since: Date,
): Promise<number> {
  const [row] = await count.run(tx, [applicantId, digests, source, since]);
  return row?.count ?? 0;
}

const insertRows = defineStatement(
  'forced_pulls_insert',
  `INSERT INTO forced_pulls (person_digest, pull_id, applicant_id, retailer_id, requested_at)
   SELECT digest, $2, $3, $4, now() FROM unnest($1::bytea[]) AS digest`,
);

/** Records whom a forced pull is about. */
export async function insertForcedPull(
  tx: Queryable,
  { id, applicantId, retailerId }: PullRow,
  digests: readonly Buffer[],
): Promise<void> {
  await insertRows.run(tx, [digests, id, applicantId, retailerId]);
}

const deleteRowsOf = defineStatement(
  'forced_pulls_delete_of_applicant',
  'DELETE FROM forced_pulls WHERE applicant_id = $1 AND retailer_id = $2',
);

/** Deletes whom the forced pulls of an applicant were about. */
export async function forgetForcedPulls(
  tx: Queryable,
  { applicantId, retailerId }: ApplicantOfRetailer,
): Promise<void> {
  await deleteRowsOf.run(tx, [applicantId, retailerId]);
}

/**
 * Deletes what is older than a day, and what is about an erased applicant: a version that does not know the table
 * leaves it at an erasure, and a restored backup brings it back.
 */
export const purgeForcedPulls = definePurge(
  'forced_pulls_purge',
  `DELETE FROM forced_pulls WHERE (person_digest, pull_id) IN (
     SELECT person_digest, pull_id FROM forced_pulls
     WHERE requested_at < now() - interval '1 day' OR EXISTS (
       SELECT FROM applicant_erasures AS erased
       WHERE erased.applicant_id = forced_pulls.applicant_id
         AND erased.retailer_id = forced_pulls.retailer_id)
     LIMIT ${PURGE_BATCH_ROWS})`,
);
