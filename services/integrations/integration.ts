/** Opens the records of an integration, and refuses one that does not exist. */
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { ScopedPool } from '@creditlane/postgres/row-security/scoped-pool';
import type { Call } from '@creditlane/rpc/call';
import { type Fault, notFound } from '@creditlane/rpc/fault';
import { integrationExists } from './store/integrations.ts';

/**
 * The connections for writes to the records of the integration, which take turns at its row.
 *
 * @throws Fault `integration_not_found`
 */
export async function integrationRecords(
  requests: RequestPool,
  call: Call,
  id: string,
): Promise<ScopedPool> {
  const db = requests.of(call, { integrations: [id] });
  if (!(await integrationExists(db, id))) throw integrationNotFound();
  return db.onRow(id);
}

export function integrationNotFound(): Fault {
  return notFound('integration_not_found', 'There is no such integration.');
}
