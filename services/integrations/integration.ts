/** Refuses requests that name an integration which does not exist. */
import type { Queryable } from '@creditlane/postgres/statement';
import { type Fault, notFound } from '@creditlane/rpc/fault';
import { integrationExists } from './store/integrations.ts';

/** @throws Fault `integration_not_found` */
export async function requireIntegration(db: Queryable, id: string): Promise<void> {
  if (await integrationExists(db, id)) return;
  throw integrationNotFound();
}

export function integrationNotFound(): Fault {
  return notFound('integration_not_found', 'There is no such integration.');
}
