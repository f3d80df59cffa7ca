/** Decides which integrations an export may be sent to. */
import type { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import type { CallContext, Client } from '@creditlane/rpc/client';
import { notFound } from '@creditlane/rpc/fault';
import { sharedCall } from './call-limits.ts';

export interface IntendedRecipient {
  integrationId: string;
  creditorId: string;
}

/**
 * Refuses an integration that would not receive the webhook about the caller's retailer and the creditor, in
 * the same way whether it exists or not. A caller without a retailer in scope is not refused here: the
 * applications service then finds no application, and the caller learns nothing of the integration.
 */
export async function requireRecipient(
  destinations: Client<typeof DestinationsService>,
  { integrationId, creditorId }: IntendedRecipient,
  context: CallContext,
): Promise<void> {
  const { retailerId } = context.identity;
  if (retailerId === undefined) return;
  const pairs = [{ retailerId, creditorId, integrationId }];
  const { byPair } = await destinations.findRecipients({ pairs }, sharedCall(context));
  if (byPair[0]?.recipients.length) return;
  const pointer = '/integrationId';
  const message =
    "names no integration with a webhook destination and a grant on the application's retailer or on " +
    'the creditor';
  throw notFound('integration_not_found', `${pointer} ${message}`, [{ pointer, message }]);
}
