/** One attempt at a delivery: find the destination, render the body, sign, post, and decide the next step. */
import { DESTINATION_USABLE_MS } from '@creditlane/egress-rules/destination-url';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import { type Span, startSpan } from '@creditlane/runtime/telemetry/tracing';
import type { DestinationLog } from '../destinations/destination-log.ts';
import {
  type Destination,
  type Destinations,
  SECRET_UNREADABLE,
} from '../destinations/destinations.ts';
import type { DispatcherMetrics } from '../dispatcher-metrics.ts';
import { isSuccess, type Outcome } from '../egress/exchange.ts';
import { findBody } from '../events/message-body.ts';
import {
  ContentLostError,
  type ContentReader,
  GRANT_MISSING,
  type WebhookEventType,
} from '../events/webhook-event-type.ts';
import type { LeasedDelivery, UntriedDelivery } from '../queue/delivery.ts';
import type { DestinationRates } from '../queue/rates/destination-rates.ts';
import type { DestinationRate } from '../store/rates.ts';
import { type PostWebhookDeps, postWebhook } from './post-webhook.ts';
import { nextStep, type Step } from './schedule.ts';
import { keptAnswerBytesOf, withSealedAnswer } from './sealed-answer.ts';

export interface AttemptDeps extends PostWebhookDeps {
  /** By the name of the webhook event type. */
  readonly eventTypes: ReadonlyMap<string, WebhookEventType>;
  readonly destinations: Pick<Destinations, 'get' | 'getUncached' | 'grantEndMs'>;
  /** The delays between attempts. */
  readonly delaysMs: readonly number[];
  readonly rates: Pick<DestinationRates, 'note'>;
  readonly metrics: DispatcherMetrics;
  readonly log: Log;
  readonly destinationLog: DestinationLog;
  readonly random: () => number;
}

/**
 * How soon a delivery is tried again whose 410 disables nothing: the destination has a new URL, or could not be looked up,
 * which the next attempt waits for.
 */
const UNCONFIRMED_GONE_DELAY_MS = 1_000;

/** A destination that may be used for less is looked up again before the request: its connection may have to be opened. */
const MIN_OPENING_MS = DESTINATION_USABLE_MS / 2;

/** One attempt and the delivery's state after it. */
export interface AttemptResult {
  readonly kind: 'tried';
  readonly delivery: LeasedDelivery;
  /**
   * Of the destination that the request was sent to; `undefined` when no request was sent, or perhaps to an earlier URL: then
   * the result changes neither the health of the destination nor its adaptive limit.
   */
  readonly revision: number | undefined;
  /** When the exchange began, or the attempt that came to none. */
  readonly startedAt: Date;
  /** Of the exchange; 0 without one. */
  readonly durationMs: number;
  readonly outcome: Outcome;
  /** The beginning of the answer to a failed attempt, where it is kept (`sealed-answer.ts`). */
  readonly sealedAnswer?: Buffer;
  readonly state: 'delivered' | 'due' | 'dead';
  /** Why the delivery is dead; begins with a stable word. */
  readonly reason?: string;
  /** The delay before the next attempt of a due delivery. */
  readonly delayMs?: number;
  /** The destination answered that it is gone: nothing more is sent to it. */
  readonly disables?: boolean;
}

/** What is recorded of a delivery that was taken to be sent: the result of its attempt, or that none could be made. */
export type AttemptRecord = AttemptResult | UntriedDelivery;

/** What allows the request of a delivery to begin. */
export interface Permission {
  maySend(): boolean;
  /** Until when the grant that the intake found allows the request, by performance.now(). */
  readonly grantedUntilMs: number;
  /** Whether it has a permit, which it needs if its destination has a rate limit. */
  hasPermit(): boolean;
  /** Waits for another permit; resolves to false when there is none soon. */
  takePermit(rate: DestinationRate): Promise<boolean>;
}

/**
 * Makes an attempt, if the permission still allows it just before the request is written. A delivery that could not be tried
 * stays due, and no attempt is counted.
 */
export type Attempt = (delivery: LeasedDelivery, permission: Permission) => Promise<AttemptRecord>;

/** An attempt that counts, by a request or without one. */
interface Tried
  extends Pick<
    AttemptResult,
    'revision' | 'startedAt' | 'durationMs' | 'outcome' | 'sealedAnswer'
  > {
  readonly kind: 'tried';
  /** Why nothing can ever be sent. */
  readonly deadReason?: string;
}

type Untried = Pick<UntriedDelivery, 'kind' | 'lacksContent'>;

const UNTRIED: Untried = { kind: 'untried', lacksContent: false };
const WITHOUT_CONTENT: Untried = { kind: 'untried', lacksContent: true };

export function createAttempt(deps: AttemptDeps): Attempt {
  const { delaysMs, metrics, random } = deps;

  return async (delivery, permission) => {
    const span = startAttemptSpan(delivery);
    const tried = await tryToSend(deps, delivery, permission, span.traceparent);
    if (tried.kind === 'untried') {
      span.end('not_tried');
      return { ...tried, delivery };
    }
    const { deadReason, ...result } = tried;
    const { outcome, revision, durationMs } = result;
    endAttemptSpan(span, outcome);

    let step: Step =
      deadReason === undefined
        ? nextStep(delivery.attempts + 1, outcome, delaysMs, random)
        : { kind: 'dead', reason: deadReason };
    const isUnconfirmed = step.kind === 'disable' && !(await isStillAt(deps, delivery, revision));
    if (isUnconfirmed) step = { kind: 'retry', delayMs: UNCONFIRMED_GONE_DELAY_MS };
    const answeredInMs = revision === undefined ? undefined : durationMs;
    metrics.countAttempt(step.kind, delivery.destinationId, answeredInMs);
    if (step.kind !== 'delivered') logFailed(deps, delivery, result, step);
    // The answer of an earlier URL tells nothing about the present one.
    const answering = isUnconfirmed ? undefined : revision;
    return { ...result, revision: answering, delivery, ...stateAfter(step) };
  };
}

async function tryToSend(
  deps: AttemptDeps,
  delivery: LeasedDelivery,
  permission: Permission,
  traceparent: string | undefined,
): Promise<Tried | Untried> {
  const { eventTypes, destinations, metrics, clock } = deps;
  const { id, event, destinationId, sequence } = delivery;
  // Without a revision, the attempt changes neither the health of the destination nor its adaptive limit.
  const unsent = { kind: 'tried', revision: undefined, startedAt: clock(), durationMs: 0 } as const;
  const unsendable = (deadReason: string): Tried => {
    // The details of a mismatch follow after a colon.
    const reason = deadReason.split(':', 1)[0] ?? '';
    return { ...unsent, outcome: { kind: 'failed', reason }, deadReason };
  };
  const eventType = eventTypes.get(event);
  // A newer version may have stored an event type that only the newer version can send.
  if (eventType === undefined) return WITHOUT_CONTENT;
  try {
    const found = await destinations.get(destinationId, traceparent);
    if (found === undefined) return unsendable('destination_removed');
    deps.rates.note(destinationId, found);

    if (found.keys.length === 0) {
      // Tried again like a failure of the receiver: the operator restores the key, or the secret is rotated.
      return { ...unsent, outcome: { kind: 'failed', reason: SECRET_UNREADABLE } };
    }
    const reader = { readsSin: found.readsSin, traceparent };
    const content = await findContent(deps, eventType, delivery, reader);
    if (content.kind === 'missing') return WITHOUT_CONTENT;
    if (content.kind === 'unsendable') return unsendable(content.reason);
    const { body } = content;
    const grantEndMs =
      performance.now() < permission.grantedUntilMs
        ? permission.grantedUntilMs
        : await destinations.grantEndMs(JSON.parse(body), found.integrationId, traceparent);
    if (grantEndMs === undefined) return unsendable(GRANT_MISSING);

    const isAllowed = await allowSending(permission, destinationId, found);
    if (isAllowed === undefined) return UNTRIED;
    // The service with the content may have taken long to answer, and the permit to come.
    const isFresh = performance.now() < found.usableUntilMs - MIN_OPENING_MS;
    const destination = isFresh ? found : await destinations.get(destinationId, traceparent);
    if (destination?.revision !== found.revision) return UNTRIED;
    // The body is for what the integration could read then.
    if (destination.readsSin !== found.readsSin) return UNTRIED;
    // Opening a connection may take longer than the answers may be relied on.
    const usableUntilMs = Math.min(destination.usableUntilMs, grantEndMs);
    const maySend = () => isAllowed() && performance.now() < usableUntilMs;
    const onSent = () => {
      const { attempts, replays, recordedAt } = delivery;
      if (attempts === 0 && replays === 0)
        metrics.observeFirstByte(destinationId, recordedAt, clock());
    };
    const posted = await postWebhook(deps, {
      id,
      sequence,
      body,
      eventType,
      destinationId,
      destination,
      maySend,
      onSent,
      keptAnswerBytes: keptAnswerBytesOf(eventType),
    });
    if (posted === undefined) return UNTRIED;
    const { keys, revision } = destination;
    const answered = withSealedAnswer(posted, { deliveryId: id, destinationId }, keys);
    return { kind: 'tried', ...answered, revision };
  } catch (err) {
    warnUntried(deps, delivery, err);
    return UNTRIED;
  }
}

/**
 * Returns what is asked just before the request; undefined when the rate of the destination allows no request soon. A delivery has a permit
 * from its claim, unless it is a probe or its destination had no limit then, and loses it when preparing takes too long: then it waits
 * for another one.
 */
async function allowSending(
  permission: Permission,
  destinationId: string,
  { revision, deliveriesPerSecond: perSecond }: Destination,
): Promise<(() => boolean) | undefined> {
  if (perSecond === undefined) return permission.maySend;
  const rate = { destinationId, revision, perSecond };
  if (!permission.hasPermit() && !(await permission.takePermit(rate))) return undefined;
  return () => permission.maySend() && permission.hasPermit();
}

type FoundContent =
  | { readonly kind: 'found'; readonly body: string }
  /** The body must not be sent, or is lost. */
  | { readonly kind: 'unsendable'; readonly reason: string }
  /** It could not be asked for. */
  | { readonly kind: 'missing' };

/** The body to send. */
async function findContent(
  deps: AttemptDeps,
  eventType: WebhookEventType,
  delivery: LeasedDelivery,
  reader: ContentReader,
): Promise<FoundContent> {
  try {
    const { body, mismatch } = await findBody(eventType, delivery, reader);
    return mismatch === undefined
      ? { kind: 'found', body }
      : { kind: 'unsendable', reason: mismatch };
  } catch (err) {
    if (err instanceof ContentLostError) return { kind: 'unsendable', reason: err.reason };
    warnUntried(deps, delivery, err);
    return { kind: 'missing' };
  }
}

function logFailed(
  { destinationLog }: AttemptDeps,
  { id: deliveryId, destinationId, event, attempts, traceparent }: LeasedDelivery,
  { outcome, durationMs }: Pick<Tried, 'outcome' | 'durationMs'>,
  { kind: next, ...then }: Step,
): void {
  destinationLog('debug', destinationId, 'an attempt at a webhook has failed', {
    ...{ deliveryId, event, attempt: attempts + 1, durationMs },
    ...(outcome.kind === 'answered' ? { status: outcome.status } : { failure: outcome.reason }),
    ...{ next, ...then, traceId: traceIdOf(traceparent) },
  });
}

/** The receiver did not cause the failure, so no attempt is counted. */
function warnUntried({ log }: AttemptDeps, { id, traceparent }: LeasedDelivery, err: unknown) {
  const traceId = traceIdOf(traceparent);
  log.warn({ err, deliveryId: id, traceId }, 'a webhook could not be tried');
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
