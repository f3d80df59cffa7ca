/** Reads and writes integrations. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

/** The rate limit of each key of an integration; both columns are null where the gateway's setting applies. */
export interface LimitColumns {
  rateLimitRequests: number | null;
  rateLimitWindowS: number | null;
}

/** The rate limit of its columns; undefined where the gateway's setting applies. */
export function rateLimitOf({
  rateLimitRequests: requests,
  rateLimitWindowS: windowSeconds,
}: LimitColumns) {
  return requests === null || windowSeconds === null ? undefined : { requests, windowSeconds };
}

/** A program of a third party that acts for retailers and creditors. */
export interface IntegrationRow extends LimitColumns {
  id: string;
  name: string;
  permissions: string[];
  createdAt: Date;
}

const insertRow = defineStatement(
  'integration_insert',
  `INSERT INTO integrations (id, name, permissions, created_at, rate_limit_requests, rate_limit_window_s)
   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING RETURNING id`,
);

/** Inserts an integration; false when one has its id, which stays as it is. */
export async function insertIntegration(
  tx: Queryable,
  { id, name, permissions, createdAt, rateLimitRequests, rateLimitWindowS }: IntegrationRow,
): Promise<boolean> {
  const values = [id, name, permissions, createdAt, rateLimitRequests, rateLimitWindowS];
  return (await insertRow.run(tx, values)).length > 0;
}

const updateRow = defineStatement(
  'integration_update',
  `UPDATE integrations SET name = $2, permissions = $3, rate_limit_requests = $4, rate_limit_window_s = $5
   WHERE id = $1 RETURNING id`,
);

/** Replaces everything but the time of creation; false when no integration has the id. */
export async function updateIntegration(
  db: Queryable,
  { id, name, permissions, rateLimitRequests, rateLimitWindowS }: Omit<IntegrationRow, 'createdAt'>,
): Promise<boolean> {
  const values = [id, name, permissions, rateLimitRequests, rateLimitWindowS];
  return (await updateRow.run(db, values)).length > 0;
}

const selectIntegration = defineStatement(
  'integration_find',
  'SELECT FROM integrations WHERE id = $1',
);

export async function integrationExists(db: Queryable, id: string): Promise<boolean> {
  return (await selectIntegration.run(db, [id])).length > 0;
}

/** What the platform has set for an integration; its destination's columns are null without one, the last two also without a filter and without a limit. */
export type IntegrationSettings = Omit<IntegrationRow, 'id' | 'createdAt'> & {
  destinationId: string | null;
  destinationUrl: string | null;
  destinationEvents: string[] | null;
  destinationPerSecond: number | null;
};

const selectSettings = defineStatement<IntegrationSettings>(
  'integration_read',
  `SELECT name, permissions, rate_limit_requests AS "rateLimitRequests",
     rate_limit_window_s AS "rateLimitWindowS", destinations.id AS "destinationId",
     destinations.url AS "destinationUrl",
     CASE WHEN destinations.events_revision = destinations.revision THEN destinations.events END AS "destinationEvents",
     CASE WHEN destinations.rate_revision = destinations.revision THEN destinations.deliveries_per_second END
       AS "destinationPerSecond"
   FROM integrations LEFT JOIN destinations ON destinations.integration_id = integrations.id
   WHERE integrations.id = $1`,
);

export async function findIntegration(
  db: Queryable,
  id: string,
): Promise<IntegrationSettings | undefined> {
  const [row] = await selectSettings.run(db, [id]);
  return row;
}
