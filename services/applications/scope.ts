/** The one retailer that a call may act for, and what it is told of everybody else's records. */
import { type Fault, notFound } from '@creditlane/rpc/fault';
import type { Identity } from '@creditlane/rpc/identity';

/** No retailer has it, so a call without a scope asks the same of the database and finds nothing. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** The retailer that the caller's token names. */
export function retailerScope({ retailerId }: Identity): string {
  return retailerId?.toLowerCase() ?? NOBODY;
}

/** The same for an application that is another retailer's and for one that never was. */
export function applicationNotFound(): Fault {
  return notFound('application_not_found', 'There is no such application.');
}
