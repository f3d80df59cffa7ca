/** For the tests: a database with the service's tables, without a running service. */
import { randomBytes, randomUUID } from 'node:crypto';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { openTestDatabase } from '@creditlane/postgres/test-open-database';
import type { AuditRecord } from '../audit/audit-record.ts';
import { creditFile } from '../service.ts';

export const openCustodyDatabase = () =>
  openTestDatabase('custody', [], creditFile.database.migrations);

export const KEYS = `k1:${randomBytes(32).toString('base64')}`;
export const RING: KeyRing = KeyRing.parse(KEYS);
export const NEXT_KEYS = `k2:${randomBytes(32).toString('base64')}`;

/** A record of a read by an integration. */
export function aRead(retailerId: string, change: Partial<AuditRecord> = {}): AuditRecord {
  return {
    action: 'FILE_READ',
    at: new Date(),
    retailerId,
    actor: { kind: 'integration', id: randomUUID() },
    requestId: 'request-1',
    purpose: 'CREDIT_APPLICATION',
    applicationId: randomUUID(),
    applicantId: randomUUID(),
    pullId: randomUUID(),
    fileId: randomUUID(),
    ...change,
  };
}
