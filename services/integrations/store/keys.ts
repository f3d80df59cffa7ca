/** Reads and writes the API keys of integrations. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { KeyOwner } from '../keys/key.ts';
import { type LimitColumns, rateLimitOf } from './integrations.ts';

/** An API key of an integration, of which only the SHA-256 digest is stored. */
interface KeyRow {
  id: string;
  integrationId: string;
  digest: Buffer;
  createdAt: Date;
}

const selectKeyOwner = defineStatement<
  { callerId: string; keyId: string; permissions: string[] } & LimitColumns
>(
  'key_owner_find',
  `SELECT integrations.id AS "callerId", keys.id AS "keyId", integrations.permissions,
     rate_limit_requests AS "rateLimitRequests", rate_limit_window_s AS "rateLimitWindowS"
   FROM keys JOIN integrations ON integrations.id = keys.integration_id
   WHERE keys.digest = $1 AND keys.revoked_at IS NULL`,
);

/** The integration that has an unrevoked key with this digest. */
export async function findKeyOwner(
  db: Queryable,
  digest: Uint8Array,
): Promise<KeyOwner | undefined> {
  const [row] = await selectKeyOwner.run(db, [digest]);
  if (!row) return undefined;
  const { callerId, keyId, permissions } = row;
  return { kind: 'integration', callerId, keyId, permissions, rateLimit: rateLimitOf(row) };
}

const insertRow = defineStatement(
  'key_insert',
  'INSERT INTO keys (id, integration_id, digest, created_at) VALUES ($1, $2, $3, $4)',
);

export async function insertKey(
  tx: Queryable,
  { id, integrationId, digest, createdAt }: KeyRow,
): Promise<void> {
  await insertRow.run(tx, [id, integrationId, digest, createdAt]);
}

const selectIntegrationForUpdate = defineStatement(
  'key_integration_lock',
  'SELECT FROM integrations WHERE id = $1 FOR NO KEY UPDATE',
);

const countUnrevoked = defineStatement<{ count: number }>(
  'keys_count_unrevoked',
  `SELECT count(*)::int AS count FROM (
     SELECT FROM keys WHERE integration_id = $1 AND revoked_at IS NULL LIMIT $2) AS unrevoked`,
);

/**
 * The number of the integration's unrevoked keys, at most `max`. Locks the integration until `tx` ends, so that keys
 * which are issued at once are counted one after the other.
 */
export async function countUnrevokedKeys(
  tx: Queryable,
  integrationId: string,
  max: number,
): Promise<number> {
  await selectIntegrationForUpdate.run(tx, [integrationId]);
  const [row] = await countUnrevoked.run(tx, [integrationId, max]);
  return row?.count ?? 0;
}

const selectUnrevoked = defineStatement<Pick<KeyRow, 'id' | 'createdAt'>>(
  'keys_list_unrevoked',
  `SELECT id, created_at AS "createdAt" FROM keys
   WHERE integration_id = $1 AND revoked_at IS NULL ORDER BY created_at DESC, id DESC LIMIT $2`,
);

/** The integration's unrevoked keys, the newest first. */
export function findUnrevokedKeys(
  db: Queryable,
  integrationId: string,
  limit: number,
): Promise<Pick<KeyRow, 'id' | 'createdAt'>[]> {
  return selectUnrevoked.run(db, [integrationId, limit]);
}

const updateRevoked = defineStatement(
  'key_revoke',
  `UPDATE keys SET revoked_at = coalesce(revoked_at, $3)
   WHERE id = $1 AND integration_id = $2 RETURNING id`,
);

/**
 * Revokes an integration's key; a key that is revoked already keeps its time of revocation. False where
 * the integration has no such key.
 */
export async function revokeKey(
  db: Queryable,
  integrationId: string,
  id: string,
  at: Date,
): Promise<boolean> {
  return (await updateRevoked.run(db, [id, integrationId, at])).length > 0;
}
