/** Refuses to send webhooks again that their integration would no longer receive. */
import type { Call } from '@creditlane/rpc/call';
import { conflict } from '@creditlane/rpc/fault';
import { withTimeLimit } from '@creditlane/runtime/concurrency/time-limit';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Destinations } from '../destinations/destinations.ts';
import { findBody } from '../events/message-body.ts';
import { GRANT_MISSING, type WebhookEventType } from '../events/webhook-event-type.ts';
import type { FoundDelivery } from '../store/own-deliveries.ts';

/** Well within the time that a request may take: one that was answered for being late must not begin a replay. */
const WITHIN_MS = 2_000;

export interface RequireGrantDeps {
  readonly log: Log;
  readonly destinations: Pick<Destinations, 'isGranted'>;
  /** By the name of the webhook event type. */
  readonly eventTypes: ReadonlyMap<string, WebhookEventType>;
}

/**
 * Throws if the caller has no grant any more to what the ended delivery says. While that cannot be found out, and when the
 * content is lost, the replay may begin: each attempt at it asks again before it sends.
 *
 * @throws Fault `grant_missing`
 */
export async function requireGrant(
  { log, destinations, eventTypes }: RequireGrantDeps,
  { id, event, state, body, reference }: FoundDelivery,
  { identity, traceparent }: Call,
): Promise<void> {
  // The request makes the next attempt at a pending delivery earlier, which asks for the grant itself.
  if (state === 'due' || state === 'waiting') return;
  const eventType = eventTypes.get(event);
  // A newer version may have stored an event type that this one does not know, and does not send.
  if (eventType === undefined) return;
  const isGranted = async () => {
    const found = await findBody(eventType, { body, reference }, { readsSin: false, traceparent });
    return destinations.isGranted(JSON.parse(found.body), identity.subject, traceparent);
  };
  const limited = withTimeLimit(isGranted(), {
    limitMs: WITHIN_MS,
    makeError: () => new Error(`no answer within ${WITHIN_MS} ms`),
  });
  const granted = await limited.catch((err) => {
    log.warn({ err, deliveryId: id }, 'the grant to replay a delivery cannot be checked');
    return true;
  });
  if (granted) return;
  throw conflict(GRANT_MISSING, 'The integration has no grant to receive the event any more.');
}
