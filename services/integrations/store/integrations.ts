/** Reads and writes integrations. */
import type { Database } from '@creditlane/postgres/database';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { type IntegrationRow, integrations } from '../tables.ts';

const upsertIntegration = defineStatement(
  'save_integration',
  `INSERT INTO integrations (id, name, permissions, created_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (id) DO UPDATE SET name = excluded.name, permissions = excluded.permissions`,
);

/** Inserts an integration, or replaces the name and permissions of the integration that has its id. */
export async function saveIntegration(
  tx: Queryable,
  { id, name, permissions, createdAt }: IntegrationRow,
): Promise<void> {
  await upsertIntegration.run(tx, [id, name, permissions, createdAt]);
}

export function integrationExists({ dataSource }: Database, id: string): Promise<boolean> {
  return dataSource.getRepository(integrations).existsBy({ id });
}
