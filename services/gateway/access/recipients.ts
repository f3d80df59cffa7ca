/** Decides which integrations an export may be sent to. */
import type { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import type { CallContext, Client } from '@creditlane/rpc/client';
import { ownCall } from './call-options.ts';

export interface IntendedRecipient {
  integrationId: string;
  creditorId: string;
}

/** The webhook of an export, as the event filters of destinations name it. */
const EXPORTED = 'applicationExported';

/**
 * Whether the integration would not receive the webhook of an export about the caller's retailer and the creditor, or does not exist. For a
 * caller without a retailer in scope it is not looked up: the applications service finds no application then, and the
 * caller learns nothing of the integration.
 */
export async function lacksRecipient(
  destinations: Client<typeof DestinationsService>,
  { integrationId, creditorId }: IntendedRecipient,
  context: CallContext,
): Promise<boolean> {
  const { retailerId } = context.identity;
  if (retailerId === undefined) return false;
  const pairs = [{ retailerId, creditorId, integrationId, event: EXPORTED }];
  const { byPair } = await destinations.findRecipients({ pairs }, ownCall(context));
  return !byPair[0]?.recipients.length;
}
