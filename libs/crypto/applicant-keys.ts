/**
 * The table `applicant_keys` of a service: the data keys of applicants, in stored form. What is sealed with a key is in
 * other tables, so that destroying one row makes all of it unreadable, and backups of the keys can be kept apart from
 * those of the data.
 */
import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { DataKey } from './data-key.ts';
import { readKeyId } from './envelope.ts';
import type { KeyRing } from './key-ring.ts';
import { defineSealedField } from './sealed-column.ts';

/**
 * Creates the table. A destroyed key keeps its row, without the key: what it sealed can be told from what was damaged.
 *
 * @param unique whether an applicant gets one key `'ever'`, or another one after the first is destroyed: at most one
 *   `'live'`
 */
export const createApplicantKeysSql = (unique: 'live' | 'ever'): readonly string[] => [
  `CREATE TABLE applicant_keys (
    id uuid PRIMARY KEY,
    applicant_id uuid NOT NULL,
    retailer_id uuid NOT NULL,
    sealed bytea,
    sealed_with text,
    created_at timestamptz NOT NULL,
    destroyed_at timestamptz,
    CONSTRAINT applicant_keys_sealed_or_destroyed CHECK (
      (sealed IS NULL) = (destroyed_at IS NOT NULL)
      AND (sealed IS NULL) = (sealed_with IS NULL)
    )
  )`,
  unique === 'ever'
    ? 'CREATE UNIQUE INDEX applicant_keys_ever ON applicant_keys (applicant_id, retailer_id)'
    : `CREATE UNIQUE INDEX applicant_keys_live ON applicant_keys (applicant_id, retailer_id)
    WHERE destroyed_at IS NULL`,
  'CREATE INDEX applicant_keys_sealed_with ON applicant_keys (sealed_with)',
  ...enableRowSecuritySql('applicant_keys', {
    rows: isInScopeSql('retailer_id', 'retailers'),
    privileges: 'SELECT, INSERT',
  }),
];

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

/** The stored keys: each is a sealed field, which a rotation of the key ring wraps again. */
export const sealedKeys = defineSealedField({
  table: 'applicant_keys',
  column: 'sealed',
  primaryKey: { id: 'uuid' },
  tenantSql: 'retailer_id',
});

// An index of all keys is inferred, too: it satisfies the predicate.
const insertRow = defineStatement<{ id: string }>(
  'applicant_key_insert',
  `INSERT INTO applicant_keys (id, applicant_id, retailer_id, sealed, sealed_with, created_at)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (applicant_id, retailer_id) WHERE destroyed_at IS NULL DO NOTHING
   RETURNING id`,
);

/** A data key and the id of its row. */
export interface ApplicantKey {
  id: string;
  dataKey: DataKey;
}

/**
 * @throws SealError unless the stored key is that of its row and tenant
 * @throws UnknownKeyError while the key ring lacks its key
 */
export function openKey(keyRing: KeyRing, { id, retailer_id, sealed }: StoredKey): DataKey {
  return DataKey.open(keyRing, sealed, sealedKeys.context(id, retailer_id));
}

/** How often an erasure may destroy the key that refused an insertion before it is looked up. */
const MAKE_ATTEMPTS = 5;

/**
 * Makes the key of an applicant, or resolves to the one that the applicant has.
 * @throws Error when the applicant's key is destroyed and the table keeps one key ever
 */
export async function makeKey(
  tx: Queryable,
  { keyRing, newId }: { keyRing: KeyRing; newId: () => string },
  applicant: ApplicantOfRetailer,
  at: Date,
): Promise<ApplicantKey> {
  const { applicantId, retailerId: retailer_id } = applicant;
  for (let attempt = 0; attempt < MAKE_ATTEMPTS; attempt += 1) {
    const id = newId();
    const sealed = DataKey.generateStored(keyRing, sealedKeys.context(id, retailer_id));
    // Waits for the transaction of another key of the applicant.
    const inserted = await insertRow.run(tx, [
      id,
      applicantId,
      retailer_id,
      sealed,
      readKeyId(sealed),
      at,
    ]);
    if (inserted.length > 0) return { id, dataKey: openKey(keyRing, { id, retailer_id, sealed }) };
    const liveId = await findLiveKeyId(tx, applicant);
    const stored = liveId === undefined ? undefined : await findKey(tx, liveId);
    if (stored !== undefined) return { id: stored.id, dataKey: openKey(keyRing, stored) };
  }
  throw new Error('the data key of the applicant is destroyed');
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
