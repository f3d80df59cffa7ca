import { sealedKeys } from '@creditlane/crypto/applicant-keys';
import type { Database } from '@creditlane/postgres/database';
import { sealedHeads } from './audit-log.ts';
import { sealedCredentials } from './bureau-credentials.ts';

/**
 * The tables with sealed columns, for a rotation of the key ring. Files are none of them: the applicants' keys seal
 * them.
 */
export function sealedTables(pool: Database['pool']) {
  return [sealedKeys(pool), sealedCredentials(pool), sealedHeads(pool)];
}
