/** Writes, finds and destroys the data keys of applicants, in stored form. */
import type { SealContext } from '@creditlane/crypto/envelope';
import { SealedColumn } from '@creditlane/crypto/sealed-column';
import type { Database } from '@creditlane/postgres/database';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

/** An applicant of a retailer's application. */
export interface ApplicantOfRetailer {
  applicantId: string;
  retailerId: string;
}

export interface StoredKey {
  id: string;
  retailer_id: string;
  sealed: Buffer;
}

/** The table, column, row and tenant that a stored key is bound to. */
export function keyContext(keyId: string, retailerId: string): SealContext {
  return { table: 'applicant_keys', column: 'sealed', row: keyId, tenant: retailerId };
}

const insertRow = defineStatement<{ id: string }>(
  'applicant_key_insert',
  `INSERT INTO applicant_keys (id, applicant_id, retailer_id, sealed, sealed_with, created_at)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (applicant_id, retailer_id) WHERE destroyed_at IS NULL DO NOTHING
   RETURNING id`,
);

export interface NewKey extends ApplicantOfRetailer {
  id: string;
  sealed: Buffer;
  sealedWith: string;
  createdAt: Date;
}

/** Inserts a key unless the applicant has one, for whose transaction it waits; tells whether it did. */
export async function insertKey(tx: Queryable, key: NewKey): Promise<boolean> {
  const { id, applicantId, retailerId, sealed, sealedWith, createdAt } = key;
  const values = [id, applicantId, retailerId, sealed, sealedWith, createdAt];
  return (await insertRow.run(tx, values)).length > 0;
}

const selectLiveId = defineStatement<{ id: string }>(
  'applicant_key_live_id',
  `SELECT id FROM applicant_keys
   WHERE applicant_id = $1 AND retailer_id = $2 AND destroyed_at IS NULL`,
);

/** The id of the applicant's key that is not destroyed. */
export async function findLiveKeyId(
  db: Queryable,
  { applicantId, retailerId }: ApplicantOfRetailer,
): Promise<string | undefined> {
  const [row] = await selectLiveId.run(db, [applicantId, retailerId]);
  return row?.id;
}

const selectKey = defineStatement<StoredKey>(
  'applicant_key_find',
  'SELECT id, retailer_id, sealed FROM applicant_keys WHERE id = $1 AND destroyed_at IS NULL',
);

/** A key; undefined once it is destroyed. */
export async function findKey(db: Queryable, keyId: string): Promise<StoredKey | undefined> {
  const [row] = await selectKey.run(db, [keyId]);
  return row;
}

const lockRow = defineStatement<StoredKey>(
  'applicant_key_lock',
  `SELECT id, retailer_id, sealed FROM applicant_keys
   WHERE id = $1 AND destroyed_at IS NULL FOR SHARE`,
);

/** A key that is not destroyed before the transaction ends; undefined once it is destroyed. */
export async function lockKey(tx: Queryable, keyId: string): Promise<StoredKey | undefined> {
  const [row] = await lockRow.run(tx, [keyId]);
  return row;
}

const destroyRow = defineStatement<{ id: string }>(
  'applicant_key_destroy',
  `UPDATE applicant_keys SET sealed = NULL, sealed_with = NULL, destroyed_at = $3
   WHERE applicant_id = $1 AND retailer_id = $2 AND destroyed_at IS NULL
   RETURNING id`,
);

/** Destroys the applicant's key; tells whether there was one. */
export async function destroyKey(
  tx: Queryable,
  { applicantId, retailerId }: ApplicantOfRetailer,
  at: Date,
): Promise<boolean> {
  return (await destroyRow.run(tx, [applicantId, retailerId, at])).length > 0;
}

/** The stored keys, for a rotation of the key ring. */
export const sealedKeys = (pool: Database['pool']) =>
  new SealedColumn(pool, {
    table: 'applicant_keys',
    column: 'sealed',
    primaryKey: { id: 'uuid' },
    tenantSql: 'retailer_id',
    contextOf: ({ id }, retailerId) => keyContext(id, retailerId),
  });
