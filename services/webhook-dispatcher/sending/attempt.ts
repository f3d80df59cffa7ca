/** One attempt at a delivery: ask where it goes, sign, post, and judge the outcome. */
import type { Clock } from '@creditlane/runtime/clock';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import { type Span, startSpan } from '@creditlane/runtime/telemetry/tracing';
import type { Destinations } from '../destinations/destinations.ts';
import type { Measures } from '../dispatcher-metrics.ts';
import type { Egress } from '../egress/egress.ts';
import { isEventName, WEBHOOK_EVENTS } from '../events/webhook-event-types.ts';
import type { AttemptResult, Delivery } from '../queue/delivery.ts';
import { nextStep, type Outcome, type Step } from './schedule.ts';
import { signatureHeaders } from './signature.ts';

export interface AttemptDeps {
  readonly destinations: Destinations;
  readonly egress: Egress;
  /** The pauses between attempts. */
  readonly delaysMs: readonly number[];
  readonly measures: Measures;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: () => number;
}

/** The result, or `undefined` when nothing could be tried: the delivery is as due as before. */
export type Attempt = (delivery: Delivery) => Promise<AttemptResult | undefined>;

export function createAttempt(deps: AttemptDeps): Attempt {
  const { delaysMs, measures, clock, random } = deps;

  return async (delivery) => {
    const startedAt = clock();
    const span = spanOf(delivery);
    const tried = await post(deps, delivery, startedAt, span.traceparent);
    end(span, tried?.outcome);
    if (tried === undefined) return undefined;
    const { outcome, revision } = tried;
    const step =
      outcome === REMOVED
        ? ({ kind: 'dead', reason: REMOVED.reason } as const)
        : nextStep(delivery.attempts + 1, outcome, delaysMs, random);
    if (step.kind === 'disable' && !(await isStillAt(deps, delivery, revision))) return undefined;
    measures.attempts.inc({ outcome: step.kind });
    const durationMs = clock().getTime() - startedAt.getTime();
    return { delivery, revision, startedAt, durationMs, outcome, ...after(step) };
  };
}

/**
 * The destination is not there any more: there is nothing to try again. A grant that was withdrawn is
 * no such end, for who is told is settled by the grants at the time of the event.
 */
const REMOVED = { kind: 'failed', reason: 'destination_removed' } as const;

function spanOf({ id, event, attempts, traceparent }: Delivery): Span {
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

function end(span: Span, outcome: Outcome | undefined): void {
  if (outcome?.kind === 'answered') {
    const { status } = outcome;
    span.setAttributes({ 'http.response.status_code': status });
    span.end(status >= 200 && status < 300 ? undefined : String(status));
  } else {
    span.end(outcome?.reason ?? 'not_tried');
  }
}

async function post(
  { destinations, egress, measures, log, clock }: AttemptDeps,
  delivery: Delivery,
  startedAt: Date,
  traceparent: string | undefined,
): Promise<{ outcome: Outcome; revision: number | undefined } | undefined> {
  const { id, event, body, destinationId } = delivery;
  // A newer version may have left an event that only it can send.
  if (!isEventName(event)) return undefined;
  const { address, signatureHeader } = WEBHOOK_EVENTS[event];
  try {
    const destination = await destinations.get(destinationId, traceparent);
    if (destination === undefined) return { outcome: REMOVED, revision: undefined };
    const { url: destinationUrl, keys, revision } = destination;
    const timestampS = Math.floor(startedAt.getTime() / 1_000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Creditlane-Webhooks/1',
      'webhook-sequence': String(delivery.sequence),
      ...signatureHeaders({ id, timestampS, body }, keys, signatureHeader),
    };
    const onSent = () => {
      if (delivery.attempts === 0) measures.firstByte(delivery.recordedAt, clock());
    };
    const exchange = { destinationId, destinationUrl, address, headers, body, onSent };
    const outcome = await egress.post(exchange);
    return outcome && { outcome, revision };
  } catch (err) {
    // Not the receiver's failure, so it costs the delivery none of its attempts.
    const traceId = traceIdOf(delivery.traceparent);
    log.warn({ err, deliveryId: id, traceId }, 'a webhook could not be tried');
    return undefined;
  }
}

/**
 * Whether the destination is at that revision still. If it was set anew meanwhile, what an earlier
 * URL says of itself is no news, and the delivery has not been tried at the one that counts.
 */
async function isStillAt(
  { destinations, log }: AttemptDeps,
  { id, destinationId, traceparent }: Delivery,
  revision: number | undefined,
): Promise<boolean> {
  try {
    const destination = await destinations.getAnew(destinationId, traceparent ?? undefined);
    return destination?.revision === revision;
  } catch (err) {
    const traceId = traceIdOf(traceparent);
    log.warn({ err, deliveryId: id, traceId }, 'whether a destination was set anew is not known');
    return false;
  }
}

function after(step: Step): Pick<AttemptResult, 'state' | 'reason' | 'delayMs' | 'disables'> {
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
