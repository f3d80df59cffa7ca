/** One attempt at a delivery: find the destination, render the body, sign, post, and decide the next step. */
import type { Log } from '@creditlane/runtime/telemetry/log';
import { traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import { type Span, startSpan } from '@creditlane/runtime/telemetry/tracing';
import { type Destinations, SECRET_UNREADABLE } from '../destinations/destinations.ts';
import type { DispatcherMetrics } from '../dispatcher-metrics.ts';
import { isSuccess, type Outcome } from '../egress/exchange.ts';
import type { RenderedBody } from '../events/body-schema.ts';
import {
  ContentLostError,
  GRANT_MISSING,
  type WebhookEventType,
} from '../events/webhook-event-type.ts';
import type { LeasedDelivery } from '../queue/delivery.ts';
import { type PostWebhookDeps, postWebhook } from './post-webhook.ts';
import { nextStep, type Step } from './schedule.ts';

export interface AttemptDeps extends PostWebhookDeps {
  /** By the name of the webhook event type. */
  readonly eventTypes: ReadonlyMap<string, WebhookEventType>;
  readonly destinations: Pick<Destinations, 'get' | 'getUncached'>;
  /** The delays between attempts. */
  readonly delaysMs: readonly number[];
  readonly metrics: DispatcherMetrics;
  readonly log: Log;
  readonly random: () => number;
}

/**
 * How soon a delivery is tried again whose 410 disables nothing: the destination has a new URL, or could not be looked up,
 * which the next attempt waits for.
 */
const UNCONFIRMED_GONE_DELAY_MS = 1_000;

/** One attempt and the delivery's state after it. */
export interface AttemptResult {
  readonly delivery: LeasedDelivery;
  /** Of the destination that the request was sent to; `undefined` when no request was sent. */
  readonly revision: number | undefined;
  /** When the exchange began, or the attempt that came to none. */
  readonly startedAt: Date;
  /** Of the exchange; 0 without one. */
  readonly durationMs: number;
  readonly outcome: Outcome;
  readonly state: 'delivered' | 'due' | 'dead';
  /** Why the delivery is dead; begins with a stable word. */
  readonly reason?: string;
  /** The delay before the next attempt of a due delivery. */
  readonly delayMs?: number;
  /** The destination answered that it is gone: nothing more is sent to it. */
  readonly disables?: boolean;
}

/**
 * Makes an attempt, if `maySend` still allows it just before the request is written. Resolves to `lacks_content` or undefined
 * when none could be made: the delivery stays due, and no attempt is counted. `lacks_content` says that the service with the
 * content does not answer, or that only a later version knows the event type.
 */
export type Attempt = (
  delivery: LeasedDelivery,
  maySend: () => boolean,
) => Promise<AttemptResult | 'lacks_content' | undefined>;

/** An attempt that counts, by a request or without one. */
type Tried = Pick<AttemptResult, 'revision' | 'startedAt' | 'durationMs' | 'outcome'> & {
  /** Why nothing can ever be sent. */
  readonly deadReason?: string;
};

export function createAttempt(deps: AttemptDeps): Attempt {
  const { delaysMs, metrics, random } = deps;

  return async (delivery, maySend) => {
    const span = startAttemptSpan(delivery);
    const tried = await tryToSend(deps, delivery, { traceparent: span.traceparent, maySend });
    if (tried === undefined || tried === 'lacks_content') {
      span.end('not_tried');
      return tried;
    }
    const { deadReason, ...result } = tried;
    const { outcome, revision, durationMs } = result;
    endAttemptSpan(span, outcome);

    let step: Step =
      deadReason === undefined
        ? nextStep(delivery.attempts + 1, outcome, delaysMs, random)
        : { kind: 'dead', reason: deadReason };
    if (step.kind === 'disable' && !(await isStillAt(deps, delivery, revision))) {
      step = { kind: 'retry', delayMs: UNCONFIRMED_GONE_DELAY_MS };
    }
    const answeredInMs = revision === undefined ? undefined : durationMs;
    metrics.countAttempt(step.kind, delivery.destinationId, answeredInMs);
    return { delivery, ...result, ...stateAfter(step) };
  };
}

async function tryToSend(
  deps: AttemptDeps,
  delivery: LeasedDelivery,
  { traceparent, maySend }: { traceparent: string | undefined; maySend: () => boolean },
): Promise<Tried | 'lacks_content' | undefined> {
  const { eventTypes, destinations, metrics, log, clock } = deps;
  const { id, event, destinationId, sequence } = delivery;
  // Without a revision, the attempt changes neither the health of the destination nor its adaptive limit.
  const unsent = { revision: undefined, startedAt: clock(), durationMs: 0 };
  const unsendable = (deadReason: string): Tried => {
    // The details of a mismatch follow after a colon.
    const reason = deadReason.split(':', 1)[0] ?? '';
    return { ...unsent, outcome: { kind: 'failed', reason }, deadReason };
  };
  const eventType = eventTypes.get(event);
  // A newer version may have stored an event type that only the newer version can send.
  if (eventType === undefined) return 'lacks_content';
  let asksForContent = false;
  try {
    const destination = await destinations.get(destinationId, traceparent);
    // The grants at intake decided who receives the event. Only `bodyToSend` asks for them again, for a replay.
    if (destination === undefined) return unsendable('destination_removed');

    if (destination.keys.length === 0) {
      // Tried again like a failure of the receiver: the operator restores the key, or the secret is rotated.
      return { ...unsent, outcome: { kind: 'failed', reason: SECRET_UNREADABLE } };
    }
    asksForContent = true;
    const { integrationId } = destination;
    const content = await bodyToSend(eventType, delivery, { integrationId, traceparent });
    const { body, deadReason } = content;
    asksForContent = false;
    if (deadReason !== undefined) return unsendable(deadReason);

    const onSent = () => {
      const { attempts, replays, recordedAt } = delivery;
      if (attempts === 0 && replays === 0)
        metrics.observeFirstByte(destinationId, recordedAt, clock());
    };
    const message = { id, sequence, body, eventType, maySend, onSent };
    const posted = await postWebhook(deps, { ...message, destinationId, destination });
    return posted && { ...posted, revision: destination.revision };
  } catch (err) {
    if (err instanceof ContentLostError) return unsendable(err.reason);
    // The receiver did not cause the failure, so no attempt is counted.
    const traceId = traceIdOf(delivery.traceparent);
    log.warn({ err, deliveryId: id, traceId }, 'a webhook could not be tried');
    return asksForContent ? 'lacks_content' : undefined;
  }
}

/** A body, and why it must not be sent. */
interface BodyToSend {
  readonly body: string;
  readonly deadReason: string | undefined;
}

async function bodyToSend(
  eventType: WebhookEventType,
  { body: stored, reference, replays }: LeasedDelivery,
  { integrationId, traceparent }: { integrationId: string; traceparent: string | undefined },
): Promise<BodyToSend> {
  const { body, mismatch } =
    stored === null
      ? await renderBody(eventType, reference, traceparent)
      : { body: stored, mismatch: undefined };
  if (mismatch !== undefined || replays === 0) return { body, deadReason: mismatch };
  const isGranted = await eventType.isGranted(JSON.parse(body), integrationId, traceparent);
  return { body, deadReason: isGranted ? undefined : GRANT_MISSING };
}

async function renderBody(
  { name, rendering, schema }: WebhookEventType,
  reference: string | null,
  traceparent: string | undefined,
): Promise<RenderedBody> {
  if (rendering.at !== 'sending' || reference === null) {
    throw new Error(`a ${name} without a body and a reference cannot be rendered`);
  }
  return schema.render(await rendering.payload(reference, traceparent));
}

/** Whether the destination still has this revision: a 410 from an earlier URL must not disable it. */
async function isStillAt(
  { destinations, log }: AttemptDeps,
  { id, destinationId, traceparent }: LeasedDelivery,
  revision: number | undefined,
): Promise<boolean> {
  try {
    const destination = await destinations.getUncached(destinationId, traceparent ?? undefined);
    return destination?.revision === revision;
  } catch (err) {
    const traceId = traceIdOf(traceparent);
    log.warn({ err, deliveryId: id, traceId }, 'the revision of a destination cannot be checked');
    return false;
  }
}

function stateAfter(step: Step): Pick<AttemptResult, 'state' | 'reason' | 'delayMs' | 'disables'> {
  switch (step.kind) {
    case 'delivered':
      return { state: 'delivered' };
    case 'retry':
      return { state: 'due', delayMs: step.delayMs };
    case 'dead':
      return { state: 'dead', reason: step.reason };
    case 'disable':
      return { state: 'dead', reason: step.reason, disables: true };
  }
}

function startAttemptSpan({ id, event, attempts, traceparent }: LeasedDelivery): Span {
  return startSpan(`webhook ${event}`, {
    kind: 'client',
    parent: traceparent,
    attributes: {
      'creditlane.delivery.id': id,
      'creditlane.webhook.event': event,
      'creditlane.webhook.attempt': attempts + 1,
    },
  });
}

function endAttemptSpan(span: Span, outcome: Outcome): void {
  if (outcome.kind === 'answered') {
    const { status } = outcome;
    span.setAttributes({ 'http.response.status_code': status });
    span.end(isSuccess(outcome) ? undefined : String(status));
  } else {
    span.end(outcome.reason);
  }
}
