/** The signed request of a webhook to its destination, which attempts at deliveries and test events have in common. */
import type { Clock } from '@creditlane/runtime/clock';
import type { Destination } from '../destinations/destinations.ts';
import type { Egress, Post } from '../egress/egress.ts';
import type { Outcome } from '../egress/exchange.ts';
import type { WebhookEventType } from '../events/webhook-event-type.ts';
import { signatureHeaders } from './signature.ts';

export interface PostWebhookDeps {
  readonly egress: Pick<Egress, 'post'>;
  readonly clock: Clock;
}

interface WebhookRequest
  extends Pick<
    Post,
    'destinationId' | 'body' | 'maySend' | 'onSent' | 'ownDeadlineMs' | 'keptAnswerBytes'
  > {
  /** The `webhook-id`. */
  readonly id: string;
  readonly sequence: number;
  readonly eventType: Pick<WebhookEventType, 'path' | 'signatureHeader'>;
  /** Has a key. */
  readonly destination: Destination;
  readonly isTest?: boolean;
}

export interface PostedWebhook {
  readonly outcome: Outcome;
  readonly startedAt: Date;
  /** Whole milliseconds of the exchange, whatever the clock was set to meanwhile. */
  readonly durationMs: number;
}

/** Resolves as `Egress.post` does. */
export async function postWebhook(
  { egress, clock }: PostWebhookDeps,
  { id, sequence, eventType, destination, isTest = false, ...post }: WebhookRequest,
): Promise<PostedWebhook | undefined> {
  const startedAt = clock();
  const startedMs = performance.now();
  const message = { id, timestampS: Math.floor(startedAt.getTime() / 1_000), body: post.body };
  const outcome = await egress.post({
    ...post,
    destinationUrl: destination.url,
    path: eventType.path,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Creditlane-Webhooks/1',
      'webhook-sequence': String(sequence),
      ...signatureHeaders(message, destination.keys, eventType.signatureHeader),
      // Not in the payload, which has to match its schema.
      ...(isTest && { 'webhook-test': 'true' }),
    },
  });
  return outcome && { outcome, startedAt, durationMs: Math.round(performance.now() - startedMs) };
}
