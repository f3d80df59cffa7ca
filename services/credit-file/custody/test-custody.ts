/** For the tests: a database with the service's tables, without a running service. */
import { randomBytes, randomUUID } from 'node:crypto';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { openDatabase } from '@creditlane/postgres/database';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import type { AuditRecord } from '../audit/audit-record.ts';
import { creditFile } from '../service.ts';

export async function openCustodyDatabase() {
  const made = await createTestDatabase('custody');
  const database = await openDatabase({
    url: made.url,
    name: 'custody',
    poolSize: 8,
    log: silentLog,
    metrics: new Metrics(),
    entities: [],
    migrations: [...creditFile.database.migrations],
  });
  return {
    ...database,
    async close() {
      await database.close();
      await made.drop();
    },
  };
}

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
