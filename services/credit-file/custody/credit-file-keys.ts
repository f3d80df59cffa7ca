/**
 * The data keys of applicants: each applicant of a retailer has one, which seals the applicant's credit files.
 * Destroying the key makes all of them unreadable at once, in copies of the table too.
 *
 * The request of a pull makes the key, and the pull keeps the key's id. A pull that ends after an erasure
 * therefore cannot store its file, and no other key is made, because requests for an erased applicant are refused.
 */
import {
  type ApplicantOfRetailer,
  findKey,
  findLiveKeyId,
  lockKey,
  makeKey,
  openKey,
} from '@creditlane/crypto/applicant-keys';
import type { DataKey } from '@creditlane/crypto/data-key';
import type { SealContext } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Queryable } from '@creditlane/postgres/statement';

/** The table, column, row and tenant that a credit file's ciphertext is bound to. */
function fileContext(fileId: string, retailerId: string): SealContext {
  return { table: 'credit_files', column: 'sealed', row: fileId, tenant: retailerId };
}

export interface EnsureKeyDeps {
  keyRing: KeyRing;
  newId: () => string;
}

/**
 * Makes the applicant's key unless there is one, and resolves to its id. It belongs in the transaction that
 * records the request of a pull.
 */
export async function ensureApplicantKey(
  tx: Queryable,
  deps: EnsureKeyDeps,
  applicant: ApplicantOfRetailer,
  at: Date,
): Promise<string> {
  const found = await findLiveKeyId(tx, applicant);
  return found ?? (await makeKey(tx, deps, applicant, at)).id;
}

/**
 * Seals the JSON text of a credit file with the key of its pull; undefined once the key is destroyed. An erasure
 * waits for the transaction, so that no file is stored after it.
 */
export async function sealCreditFile(
  tx: Queryable,
  keyRing: KeyRing,
  { id, keyId, text }: { id: string; keyId: string; text: string },
): Promise<Buffer | undefined> {
  const stored = await lockKey(tx, keyId);
  if (stored === undefined) return undefined;
  const context = fileContext(id, stored.retailer_id);
  return openKey(keyRing, stored).seal(Buffer.from(text), context);
}

/**
 * The credit file with its JSON text, and the key that seals it; undefined once the key of its pull is destroyed.
 * @throws SealError unless `sealed` is this file of this retailer
 * @throws UnknownKeyError while the key ring lacks the key's key
 */
export async function openCreditFile<File extends { id: string; keyId: string; sealed: Buffer }>(
  db: Queryable,
  keyRing: KeyRing,
  file: File,
): Promise<(File & { text: string; dataKey: DataKey }) | undefined> {
  const stored = await findKey(db, file.keyId);
  if (stored === undefined) return undefined;
  const context = fileContext(file.id, stored.retailer_id);
  const dataKey = openKey(keyRing, stored);
  return { ...file, text: dataKey.unseal(file.sealed, context).toString(), dataKey };
}
