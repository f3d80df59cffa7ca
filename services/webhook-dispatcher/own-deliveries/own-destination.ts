/** The destination of a calling integration, which decides whose deliveries the integration sees. */

import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { ScopedPool } from '@creditlane/postgres/row-security/scoped-pool';
import type { Call } from '@creditlane/rpc/call';
import { conflict, notFound } from '@creditlane/rpc/fault';
import type { Destinations } from '../destinations/destinations.ts';
import type { DestinationRevision } from '../events/webhook-event-type.ts';

/**
 * The caller's destination; undefined without one. The integrations service is asked for each call, because
 * it alone knows whose a destination is: a stored copy would outlive the removal of the destination. The destination's event
 * filter does not apply.
 */
export async function findOwnDestination(
  { ofIntegration }: Pick<Destinations, 'ofIntegration'>,
  { identity, traceparent }: Call,
): Promise<DestinationRevision | undefined> {
  const [recipients] = await ofIntegration.find([{ query: identity.subject }], traceparent);
  return recipients?.[0];
}

/** For an integration without a destination. */
export const destinationNotFound = () =>
  notFound('destination_not_found', 'The integration has no webhook destination.');

/** For a destination that nothing is sent to. */
export const destinationIsDisabled = () =>
  conflict(
    'destination_disabled',
    'The destination is disabled: a successful test event enables it.',
  );

/** For the deliveries to the caller's destination, its own replays, and its stored answers. */
export function deliveriesOf(
  requests: RequestPool,
  call: Call,
  { destinationId }: DestinationRevision,
): ScopedPool {
  const { subject } = call.identity;
  return requests.of(call, { destinations: [destinationId], integrations: [subject] });
}
