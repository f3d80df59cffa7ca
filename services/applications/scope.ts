/** The one retailer that a call may act for, and the fault for other retailers. */
import { type Fault, notFound } from '@creditlane/rpc/fault';
import type { Identity } from '@creditlane/rpc/identity';
import { NIL_UUID } from '@creditlane/runtime/ids';

/**
 * The retailer that the caller's token names. Without one, an id that no retailer has: the call then runs the
 * same queries and finds nothing.
 */
export function retailerOf({ retailerId }: Identity): string {
  return retailerId ?? NIL_UUID;
}

/** The same fault for a retailer outside the caller's scope and for one that does not exist. */
export function retailerNotFound(): Fault {
  return notFound(
    'retailer_not_found',
    'X-Service-Retailer-ID, or retailerId in the body, names no retailer that is granted to your integration.',
  );
}
