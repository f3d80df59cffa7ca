/** The SQL of a rotation: replaces a destination's newest secret, and limits how long the earlier ones sign. */
import type { SealedValue } from '@creditlane/crypto/sealed-column';
import { definePurge, deleteOlderThanSql } from '@creditlane/postgres/retention';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

/** The newest secret of a destination, sealed. */
export interface CurrentSecret {
  destinationId: string;
  sealed: Buffer;
}

const selectForUpdate = defineStatement<CurrentSecret>(
  'secret_lock',
  `SELECT id AS "destinationId", sealed_secret AS sealed FROM destinations
   WHERE integration_id = $1 FOR UPDATE`,
);

/**
 * The newest secret of the integration's destination, undefined without a destination. The lock makes
 * rotations of one destination follow each other, so that each keeps the secret that the one before made.
 */
export async function lockSecret(
  tx: Queryable,
  integrationId: string,
): Promise<CurrentSecret | undefined> {
  const [row] = await selectForUpdate.run(tx, [integrationId]);
  return row;
}

const updateSecret = defineStatement(
  'secret_replace',
  'UPDATE destinations SET sealed_secret = $2, sealed_with = $3 WHERE id = $1',
);

export async function replaceSecret(
  tx: Queryable,
  destinationId: string,
  { sealed, sealedWith }: SealedValue,
): Promise<void> {
  await updateSecret.run(tx, [destinationId, sealed, sealedWith]);
}

const insertRow = defineStatement(
  'previous_secret_insert',
  `INSERT INTO previous_secrets (id, destination_id, integration_id, sealed_secret, sealed_with,
     replaced_at, signs_until)
   VALUES ($1, $2, $3, $4, $5, greatest($6, (SELECT max(replaced_at) + interval '1 microsecond'
     FROM previous_secrets WHERE destination_id = $2)), $7)`,
);

/** A secret that was replaced and signs beside the newest one until `signsUntil`. */
export interface PreviousSecret extends SealedValue {
  id: string;
  destinationId: string;
  integrationId: string;
  replacedAt: Date;
  signsUntil: Date;
}

/**
 * Stores an earlier secret as the one replaced last: `replacedAt` is moved behind those of the secrets
 * replaced before, which another replica's clock may have timed.
 */
export async function insertPreviousSecret(tx: Queryable, row: PreviousSecret): Promise<void> {
  const { id, destinationId, integrationId, sealed, sealedWith, replacedAt, signsUntil } = row;
  await insertRow.run(tx, [
    id,
    destinationId,
    integrationId,
    sealed,
    sealedWith,
    replacedAt,
    signsUntil,
  ]);
}

const deleteEnded = defineStatement(
  'previous_secrets_delete_ended',
  `DELETE FROM previous_secrets
   WHERE destination_id = $1 AND least(signs_until, $2) <= $3`,
);

const endNoLaterThan = defineStatement<{ signs_until: Date }>(
  'previous_secrets_end',
  `UPDATE previous_secrets SET signs_until = least(signs_until, $2) WHERE destination_id = $1
   RETURNING signs_until`,
);

/**
 * Ends every earlier secret of a destination at `latestEnd` unless it ends sooner, and deletes those that
 * have ended by `now`. Resolves to the ends of those left.
 */
export async function limitPreviousSecrets(
  tx: Queryable,
  destinationId: string,
  latestEnd: Date,
  now: Date,
): Promise<Date[]> {
  await deleteEnded.run(tx, [destinationId, latestEnd, now]);
  const left = await endNoLaterThan.run(tx, [destinationId, latestEnd]);
  return left.map(({ signs_until }) => signs_until);
}

/** Deletes the secrets that sign no longer, a minute late: the database's clock may be ahead of the service's. */
export const purgePreviousSecrets = definePurge(
  'previous_secrets_purge',
  deleteOlderThanSql('previous_secrets', 'signs_until', '1 minute'),
);
