/** The list of the bus events that webhooks are made from. */
import { decisionSource, type GrantQuery } from './decision-events.ts';
import type { RecipientLookup, WebhookSource } from './webhook-event-type.ts';

/** How the sources find recipients. */
export interface RecipientLookups {
  /** All integrations with a live grant on the retailer or the creditor. */
  readonly granted: RecipientLookup<GrantQuery>;
}

/** Every source; a new one is one more line. */
export function webhookSources(lookups: RecipientLookups): readonly WebhookSource[] {
  return [decisionSource(lookups.granted)];
}
