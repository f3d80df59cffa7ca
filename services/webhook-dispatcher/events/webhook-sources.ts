/** The list of the bus events that webhooks are made from. */
import { decisionSource } from './decision-events.ts';
import { exportSource, type FindExport, submissionSource } from './export-events.ts';
import { type FindRetailerEnablement, integrationSource } from './integration-events.ts';
import type { GrantQuery, RecipientLookup, WebhookSource } from './webhook-event-type.ts';

/** How the sources find recipients, and the content of webhooks that are rendered when sent. */
export interface SourceLookups {
  /** All integrations with a live grant on the retailer or the creditor, or one of them. */
  readonly granted: RecipientLookup<GrantQuery>;
  /** One integration, by its id. */
  readonly ofIntegration: RecipientLookup<string>;
  readonly findEnablement: FindRetailerEnablement;
  readonly findExport: FindExport;
}

/** Every source; a new one is one more line. */
export function webhookSources(lookups: SourceLookups): readonly WebhookSource[] {
  const { granted, ofIntegration, findEnablement, findExport } = lookups;
  return [
    decisionSource(granted),
    integrationSource(ofIntegration, findEnablement),
    exportSource(granted, findExport),
    submissionSource,
  ];
}
