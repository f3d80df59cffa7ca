/** Reads and writes grants: which retailers and creditors an integration may act for. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

/** The side for which an integration may act by a grant. */
export type GrantSide = 'retailer' | 'creditor';

/** The grants of an integration on a retailer and on a creditor. */
interface Grants extends Record<GrantSide, boolean> {
  /** Whether the grant on the creditor is not live only because its enablement is in status DISABLED. */
  readonly disabledCreditor: boolean;
}

const selectGrants = defineStatement<Grants>(
  'grants_check',
  `SELECT
     EXISTS (SELECT FROM retailer_grants
       WHERE integration_id = $1 AND retailer_id = $2 AND revoked_at IS NULL) AS retailer,
     EXISTS (SELECT FROM creditor_grants
       WHERE integration_id = $1 AND creditor_id = $3 AND revoked_at IS NULL
         AND disabled_at IS NULL) AS creditor,
     EXISTS (SELECT FROM creditor_grants
       WHERE integration_id = $1 AND creditor_id = $3 AND revoked_at IS NULL
         AND disabled_at IS NOT NULL) AS "disabledCreditor"`,
);

/** Whether the integration has live grants for the retailer and for the creditor; false for null. */
export async function checkGrants(
  db: Queryable,
  integrationId: string,
  retailerId: string | null,
  creditorId: string | null,
): Promise<Grants> {
  const [row] = await selectGrants.run(db, [integrationId, retailerId, creditorId]);
  if (row === undefined) throw new Error('the query returns one row');
  return row;
}

/** A grant on a retailer or creditor, whose id it has. */
export interface Grant {
  id: string;
  grantedAt: Date;
  /** Whether the integration is disabled for the creditor; never for a retailer. */
  disabled: boolean;
}

const selectGrantsOf = {
  retailer: defineStatement<Grant>(
    'retailer_grants_list',
    `SELECT retailer_id AS id, granted_at AS "grantedAt", false AS disabled FROM retailer_grants
     WHERE integration_id = $1 AND revoked_at IS NULL AND retailer_id > $2
     ORDER BY retailer_id LIMIT $3`,
  ),
  creditor: defineStatement<Grant>(
    'creditor_grants_list',
    `SELECT creditor_id AS id, granted_at AS "grantedAt", disabled_at IS NOT NULL AS disabled
     FROM creditor_grants
     WHERE integration_id = $1 AND revoked_at IS NULL AND creditor_id > $2
     ORDER BY creditor_id LIMIT $3`,
  ),
};

/** The active grants of an integration with an id above `after`, in the order of their ids. */
export function findGrants(
  db: Queryable,
  side: GrantSide,
  { integrationId, after, limit }: { integrationId: string; after: string; limit: number },
): Promise<Grant[]> {
  return selectGrantsOf[side].run(db, [integrationId, after, limit]);
}

const saveStatements = {
  retailer: defineStatement(
    'retailer_grant_save',
    `INSERT INTO retailer_grants (integration_id, retailer_id, granted_at) VALUES ($1, $2, $3)
     ON CONFLICT (integration_id, retailer_id) DO UPDATE
       SET granted_at = excluded.granted_at, revoked_at = NULL
       WHERE retailer_grants.revoked_at IS NOT NULL`,
  ),
  creditor: defineStatement(
    'creditor_grant_save',
    `INSERT INTO creditor_grants (integration_id, creditor_id, granted_at) VALUES ($1, $2, $3)
     ON CONFLICT (integration_id, creditor_id) DO UPDATE
       SET granted_at = excluded.granted_at, revoked_at = NULL
       WHERE creditor_grants.revoked_at IS NOT NULL`,
  ),
};

/** Grants an integration to act for a retailer or a creditor. A grant that is live already keeps its time. */
export async function saveGrant(
  db: Queryable,
  side: GrantSide,
  integrationId: string,
  id: string,
  at: Date,
): Promise<void> {
  await saveStatements[side].run(db, [integrationId, id, at]);
}

const revokeStatements = {
  // A withdrawal ends the retailer's enabling, so that enabling again is reported again.
  retailer: defineStatement(
    'retailer_grant_revoke',
    `UPDATE retailer_grants SET revoked_at = $3, enablement_id = NULL
     WHERE integration_id = $1 AND retailer_id = $2 AND revoked_at IS NULL`,
  ),
  creditor: defineStatement(
    'creditor_grant_revoke',
    `UPDATE creditor_grants SET revoked_at = $3
     WHERE integration_id = $1 AND creditor_id = $2 AND revoked_at IS NULL`,
  ),
};

/** Revokes a live grant; where there is none, changes nothing. */
export async function revokeGrant(
  db: Queryable,
  side: GrantSide,
  integrationId: string,
  id: string,
  at: Date,
): Promise<void> {
  await revokeStatements[side].run(db, [integrationId, id, at]);
}
