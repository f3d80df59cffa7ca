/** The SQL of the retailers' credentials with the bureaus. */
import type { SealedValue } from '@creditlane/crypto/sealed-column';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { Source } from '../bureaus/bureau.ts';

export interface CredentialsRow {
  retailerId: string;
  source: Source;
  sealed: Buffer;
  setAt: Date;
}

const COLUMNS = `retailer_id AS "retailerId", source, sealed, set_at AS "setAt"`;

const upsert = defineStatement(
  'bureau_credentials_set',
  `INSERT INTO bureau_credentials (retailer_id, source, sealed, sealed_with, set_at)
   VALUES ($1, $2, $3, $4, now())
   ON CONFLICT (retailer_id, source)
     DO UPDATE SET sealed = $3, sealed_with = $4, set_at = now()`,
);

/** Stores credentials in the place of earlier ones. */
export async function setCredentials(
  db: Queryable,
  { retailerId, source, sealed, sealedWith }: Omit<CredentialsRow, 'setAt'> & SealedValue,
): Promise<void> {
  await upsert.run(db, [retailerId, source, sealed, sealedWith]);
}

const select = defineStatement<CredentialsRow>(
  'bureau_credentials_find',
  `SELECT ${COLUMNS} FROM bureau_credentials
   WHERE retailer_id = $1 AND source = coalesce($2, source) ORDER BY source`,
);

/** The retailer's credentials with the bureau, or with each; one for each bureau at most. */
export function findCredentials(
  db: Queryable,
  retailerId: string,
  source?: Source,
): Promise<CredentialsRow[]> {
  return select.run(db, [retailerId, source ?? null]);
}

const selectExists = defineStatement(
  'bureau_credentials_exist',
  'SELECT FROM bureau_credentials WHERE retailer_id = $1 AND source = $2',
);

export async function hasBureauCredentials(
  db: Queryable,
  retailerId: string,
  source: Source,
): Promise<boolean> {
  return (await selectExists.run(db, [retailerId, source])).length > 0;
}

const deleteRow = defineStatement<{ source: string }>(
  'bureau_credentials_remove',
  'DELETE FROM bureau_credentials WHERE retailer_id = $1 AND source = $2 RETURNING source',
);

/** Removes the retailer's credentials with a bureau; false when there were none. */
export async function removeCredentials(
  db: Queryable,
  retailerId: string,
  source: Source,
): Promise<boolean> {
  return (await deleteRow.run(db, [retailerId, source])).length > 0;
}
