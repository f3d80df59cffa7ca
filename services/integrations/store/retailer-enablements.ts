/** The SQL of retailers' own enabling of integrations. The grant on the retailer names the one in force. */
import { definePurge, PURGE_BATCH_ROWS } from '@creditlane/postgres/retention';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

/** A retailer's own enabling of an integration, with the name that the retailer had, and the sealed configuration. */
export interface RetailerEnablementRow {
  id: string;
  integrationId: string;
  retailerId: string;
  retailerName: string;
  /** The configuration; null without one, like `sealedWith`. */
  sealed: Buffer | null;
  sealedWith: string | null;
  enabledAt: Date;
}

const insertGrant = defineStatement(
  'retailer_grant_insert',
  `INSERT INTO retailer_grants (integration_id, retailer_id, granted_at) VALUES ($1, $2, $3)
   ON CONFLICT DO NOTHING`,
);

const selectGrantForUpdate = defineStatement<{ enablement_id: string | null }>(
  'retailer_grant_lock',
  `SELECT CASE WHEN revoked_at IS NULL THEN enablement_id END AS enablement_id FROM retailer_grants
   WHERE integration_id = $1 AND retailer_id = $2 FOR UPDATE`,
);

/**
 * Locks the grant on the retailer, which is inserted if there is none, and resolves to the id of the
 * enablement in force; undefined where there is none. The lock makes enablings of one grant follow each other.
 */
export async function lockRetailerGrant(
  tx: Queryable,
  { integrationId, retailerId, enabledAt }: RetailerEnablementRow,
): Promise<string | undefined> {
  await insertGrant.run(tx, [integrationId, retailerId, enabledAt]);
  const [row] = await selectGrantForUpdate.run(tx, [integrationId, retailerId]);
  return row?.enablement_id ?? undefined;
}

const selectEnablement = defineStatement<RetailerEnablementRow>(
  'retailer_enablement_find',
  `SELECT id, integration_id AS "integrationId", retailer_id AS "retailerId",
     retailer_name AS "retailerName", sealed_config AS sealed, sealed_with AS "sealedWith",
     enabled_at AS "enabledAt"
   FROM retailer_enablements WHERE id = $1`,
);

export async function findRetailerEnablement(
  db: Queryable,
  id: string,
): Promise<RetailerEnablementRow | undefined> {
  const [row] = await selectEnablement.run(db, [id]);
  return row;
}

const insertEnablement = defineStatement(
  'retailer_enablement_insert',
  `WITH enablement AS (
     INSERT INTO retailer_enablements (id, integration_id, retailer_id, retailer_name, sealed_config,
       sealed_with, enabled_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
   )
   UPDATE retailer_grants
   SET enablement_id = $1, revoked_at = NULL,
     granted_at = CASE WHEN revoked_at IS NULL THEN granted_at ELSE $7 END
   WHERE integration_id = $2 AND retailer_id = $3`,
);

/** Inserts an enablement and puts it in force: its grant, which `lockRetailerGrant` has locked, is live. */
export async function insertRetailerEnablement(
  tx: Queryable,
  row: RetailerEnablementRow,
): Promise<void> {
  const { id, integrationId, retailerId, retailerName, sealed, sealedWith, enabledAt } = row;
  await insertEnablement.run(tx, [
    id,
    integrationId,
    retailerId,
    retailerName,
    sealed,
    sealedWith,
    enabledAt,
  ]);
}

/**
 * Deletes the enablements that are no longer in force, with their configurations. Attempts at a webhook, which
 * read them, end after 75 hours, and a dead delivery can be sent again for 30 days.
 */
export const purgeRetailerEnablements = definePurge(
  'retailer_enablements_purge',
  `DELETE FROM retailer_enablements WHERE id IN (
     SELECT id FROM retailer_enablements AS e
     WHERE enabled_at < now() - interval '60 days'
       AND NOT EXISTS (SELECT FROM retailer_grants AS g WHERE g.enablement_id = e.id)
     LIMIT ${PURGE_BATCH_ROWS})`,
);
