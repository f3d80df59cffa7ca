/** The list of the bus events that webhooks are made from. */
import { decisionSource, type GrantQuery } from './decision-events.ts';
import { type FindRetailerEnablement, integrationSource } from './integration-events.ts';
import type { RecipientLookup, WebhookSource } from './webhook-event-type.ts';

/** How the sources find recipients, and the content of webhooks that are rendered when sent. */
export interface SourceLookups {
  /** All integrations with a live grant on the retailer or the creditor. */
  readonly granted: RecipientLookup<GrantQuery>;
  /** One integration, by its id. */
  readonly ofIntegration: RecipientLookup<string>;
  readonly findEnablement: FindRetailerEnablement;
}

/** Every source; a new one is one more line. */
export function webhookSources(lookups: SourceLookups): readonly WebhookSource[] {
  const { granted, ofIntegration, findEnablement } = lookups;
  return [decisionSource(granted), integrationSource(ofIntegration, findEnablement)];
}
