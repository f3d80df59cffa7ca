/** Refuses requests that name an integration which does not exist. */
import type { Database } from '@creditlane/postgres/database';
import { notFound } from '@creditlane/rpc/fault';
import { integrationExists } from './store/integrations.ts';

/** @throws Fault `integration_not_found` */
export async function requireIntegration(database: Database, id: string): Promise<void> {
  if (await integrationExists(database, id)) return;
  throw notFound('integration_not_found', 'There is no such integration.');
}
