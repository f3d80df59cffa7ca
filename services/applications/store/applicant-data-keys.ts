/** Reads the data keys of an application's applicants. */
import { openKey } from '@creditlane/crypto/applicant-keys';
import type { DataKey } from '@creditlane/crypto/data-key';
import { SealError } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

/**
 * Joins the key of an applicant, to which a comparison of the retailers belongs. A row without `key_id` is joined, too:
 * it may come from a backup that is older than the key, whose destruction erases the applicant all the same.
 */
export const KEY_OF_APPLICANT = `applicant_keys.applicant_id = applicants.id
  AND (applicants.key_id IS NULL OR applicant_keys.id = applicants.key_id)`;

/** When the applicant, joined with its key, was erased; null for any other. */
export const ERASED_AT = 'coalesce(applicants.erased_at, applicant_keys.destroyed_at)';

const selectKeys = defineStatement<{
  keyId: string | null;
  sealedKey: Buffer | null;
  isDestroyed: boolean;
}>(
  'application_data_keys',
  `SELECT applicants.key_id AS "keyId", applicant_keys.sealed AS "sealedKey",
     ${ERASED_AT} IS NOT NULL AS "isDestroyed"
   FROM applicants LEFT JOIN applicant_keys ON ${KEY_OF_APPLICANT} AND applicant_keys.retailer_id = $2
   WHERE applicants.application_id = $1 ORDER BY applicants.role`,
);

/**
 * The data keys of all applicants of an application, always in the same order; undefined where one of them has none yet,
 * 'destroyed' where one of them was erased.
 *
 * @throws SealError when a key is not that of its row and tenant, or is missing
 */
export async function findDataKeys(
  db: Queryable,
  keyRing: KeyRing,
  applicationId: string,
  retailerId: string,
): Promise<DataKey[] | 'destroyed' | undefined> {
  const rows = await selectKeys.run(db, [applicationId, retailerId]);
  if (rows.some(({ isDestroyed }) => isDestroyed)) return 'destroyed';
  const dataKeys: DataKey[] = [];
  for (const { keyId, sealedKey } of rows) {
    if (keyId === null) return undefined;
    if (sealedKey === null) throw new SealError('no_data_key');
    dataKeys.push(openKey(keyRing, { id: keyId, retailer_id: retailerId, sealed: sealedKey }));
  }
  return dataKeys;
}
