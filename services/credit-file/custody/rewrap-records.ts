/** Wraps every sealed record of the service with the key ring's current key. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { rewrapTable } from '@creditlane/crypto/rotation';
import type { Database } from '@creditlane/postgres/database';
import { SealedKeys } from '../store/applicant-keys.ts';
import { SealedHeads } from '../store/audit-log.ts';
import { SealedBureauCredentials } from '../store/bureau-credentials.ts';

/**
 * Resolves to how many records were wrapped with another key. Files need none: the applicants' keys seal them.
 * Reads and writes go on meanwhile; a process that still has the earlier ring writes records with the earlier
 * key, so the last run comes after the last such process.
 *
 * @throws {SealError} when the ring lacks the key of a record, because it was removed too early
 */
export async function rewrapRecords(
  database: Pick<Database, 'pool'>,
  keyRing: KeyRing,
): Promise<{ applicantKeys: number; bureauCredentials: number; auditHeads: number }> {
  return {
    applicantKeys: await rewrapTable(keyRing, new SealedKeys(database)),
    bureauCredentials: await rewrapTable(keyRing, new SealedBureauCredentials(database.pool)),
    auditHeads: await rewrapTable(keyRing, new SealedHeads(database)),
  };
}
