/** The SQL of the retailers' credentials with the bureaus. */
import type { SealedRecord, SealedTable } from '@creditlane/crypto/rotation';
import type { Database } from '@creditlane/postgres/database';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { credentialsContext } from '../bureau-credentials/sealed-credentials.ts';
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
  { retailerId, source, sealed }: Omit<CredentialsRow, 'setAt'>,
  keyId: string,
): Promise<void> {
  await upsert.run(db, [retailerId, source, sealed, keyId]);
}

const select = defineStatement<CredentialsRow>(
  'bureau_credentials_find',
  `SELECT ${COLUMNS} FROM bureau_credentials WHERE retailer_id = $1 ORDER BY source`,
);

/** The retailer's credentials, one for each bureau at most. */
export function findCredentials(db: Queryable, retailerId: string): Promise<CredentialsRow[]> {
  return select.run(db, [retailerId]);
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

/** Whether there were any. */
export async function removeCredentials(
  db: Queryable,
  retailerId: string,
  source: Source,
): Promise<boolean> {
  return (await deleteRow.run(db, [retailerId, source])).length > 0;
}

const selectSealedOtherwise = defineStatement<CredentialsRow>(
  'bureau_credentials_sealed_otherwise',
  `SELECT ${COLUMNS} FROM bureau_credentials WHERE sealed_with <> $1 LIMIT $2`,
);

const updateSealed = defineStatement(
  'bureau_credentials_replace_sealed',
  `UPDATE bureau_credentials SET sealed = $4, sealed_with = $5
   WHERE retailer_id = $1 AND source = $2 AND sealed = $3`,
);

type SealedCredentials = SealedRecord & Pick<CredentialsRow, 'retailerId' | 'source'>;

/** The credentials to wrap again after a change of the key ring. */
export class SealedBureauCredentials implements SealedTable<SealedCredentials> {
  readonly #pool: Database['pool'];

  constructor(pool: Database['pool']) {
    this.#pool = pool;
  }

  async findSealedWithOtherKey(keyId: string, limit: number): Promise<SealedCredentials[]> {
    const rows = await selectSealedOtherwise.run(this.#pool, [keyId, limit]);
    return rows.map(({ retailerId, source, sealed }) => ({
      retailerId,
      source,
      sealed,
      context: credentialsContext(retailerId, source),
    }));
  }

  async replaceSealed(read: SealedCredentials, sealed: Buffer, keyId: string): Promise<void> {
    await updateSealed.run(this.#pool, [read.retailerId, read.source, read.sealed, sealed, keyId]);
  }
}
