/** Sends a test event to an integration's destination, and enables the destination when it succeeds. */
import type { KeyObject } from 'node:crypto';
import { create, fromBinary } from '@bufbuild/protobuf';
import { answerCall, type StoreAnswer } from '@creditlane/idempotency/answer-call';
import { findStoredAnswer } from '@creditlane/idempotency/stored-answers';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { ScopedPool } from '@creditlane/postgres/row-security/scoped-pool';
import { inTransaction } from '@creditlane/postgres/transaction';
import {
  type SendTestEventRequest,
  type SendTestEventResponse,
  SendTestEventResponseSchema,
} from '@creditlane/proto/webhooks/v1/deliveries_service';
import type { Call, CallIdempotency } from '@creditlane/rpc/call';
import {
  conflict,
  type Fault,
  internal,
  invalid,
  resourceExhausted,
  unavailable,
} from '@creditlane/rpc/fault';
import { idOfName } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/telemetry/log';
import {
  type Destination,
  type Destinations,
  SECRET_UNREADABLE,
} from '../destinations/destinations.ts';
import { isSuccess, type Outcome } from '../egress/exchange.ts';
import { sentenceOf } from '../egress/failures.ts';
import type { DestinationRevision, WebhookEventType } from '../events/webhook-event-type.ts';
import type { OpenBreakers } from '../queue/open-breakers.ts';
import { takePermit } from '../sending/permits.ts';
import { type PostWebhookDeps, postWebhook } from '../sending/post-webhook.ts';
import { KEPT_ANSWER_BYTES, openAnswer, sealAnswer } from '../sending/sealed-answer.ts';
import { storeTestSuccess } from '../store/destinations.ts';
import {
  hasOtherTestEventLease,
  leaseTestEvent,
  releaseTestEvent,
  type TestEventLease,
} from '../store/leases-of-test-events.ts';
import { deliveriesOf, destinationNotFound } from './own-destination.ts';

/** Test events under way in this process, to all destinations together; each may take the whole deadline. */
const MAX_UNDER_WAY = 64;
/** For all requests of a call together. The gateway waits for the whole call for 20 seconds. */
const MAX_EXCHANGE_MS = 15_000;
/** For a permit of a destination with a rate limit. A delivery that waits for one waits for 2 s at most, so that the next is free by then. */
const MAX_PERMIT_WAIT_MS = 3_000;
/** A permit is lost, and the destination looked up again, when the connection is not open in time, which the next try then uses. */
const MAX_TRIES = 3;
/** Longer than a call may last: the gateway gives up after 20 s, and recording the answer follows the exchange. */
const LEASE_MS = 40_000;

export interface TestEventDeps extends PostWebhookDeps {
  readonly requests: RequestPool;
  readonly log: Log;
  readonly breakers: Pick<OpenBreakers, 'requestProbe'>;
  readonly destinations: Pick<Destinations, 'get' | 'getUncached'>;
  /** By the name of the webhook event type. */
  readonly eventTypes: ReadonlyMap<string, WebhookEventType>;
  readonly newId: () => string;
}

/** A request to the integration's destination, and how it ended. */
interface SentTestEvent {
  readonly webhookId: string;
  readonly destinationId: string;
  readonly revision: number;
  /** The destination's secrets, newest first. */
  readonly keys: readonly KeyObject[];
  readonly outcome: Outcome;
  readonly durationMs: number;
}

type StoreTestAnswer = StoreAnswer<typeof SendTestEventResponseSchema>;

/**
 * Sends a test event to the destination of the calling integration and resolves to the receiver's answer. A failure changes
 * nothing at the destination. A call that is repeated with its idempotency key after a crash may send the event again.
 *
 * @throws Fault `destination_not_found`, `unknown_event`, `test_event_under_way`, `idempotency_in_progress`, `overloaded`, or
 *   another fault of the idempotency key
 */
export type SendTestEvent = (
  destination: DestinationRevision | undefined,
  request: SendTestEventRequest,
  call: Call,
) => Promise<SendTestEventResponse>;

export function createSendTestEvent(deps: TestEventDeps): SendTestEvent {
  const underLease = createUnderLease(deps);
  return async (destination, request, call) => {
    if (destination === undefined) throw destinationNotFound();
    const { destinationId } = destination;
    const { idempotency } = call;
    const db = deliveriesOf(deps.requests, call, destination);
    const send = async (store: StoreTestAnswer) => {
      const sent = await postExample(deps, db, destinationId, request, call);
      const answer = await recordTestEvent(db, sent, store);
      if (answer.enabled) {
        const enabled = { destinationId, revision: sent.revision };
        deps.log.info(enabled, 'a webhook destination is enabled by a test event');
      }
      if (answer.succeeded) deps.breakers.requestProbe(destination);
      return answer;
    };
    const stored = idempotency && (await findStoredAnswer(db, idempotency));
    if (stored) {
      call.markReplayed();
      const response = fromBinary(SendTestEventResponseSchema, stored);
      return withOpenedAnswer(deps, destinationId, response, call);
    }
    // Under the lease the answer is looked for once more: a duplicate request may have stored it just before.
    const lease = { destinationId, leaseId: leaseIdOf(idempotency, deps.newId) };
    const response = await underLease(db, lease, idempotency !== undefined, () =>
      answerCall(db, call, SendTestEventResponseSchema, send),
    );
    return withOpenedAnswer(deps, destinationId, response, call);
  };
}

/** Replays to the destination take turns at another row: the answer to a test event is recorded while replays wait for a delivery. */
const rowOf = ({ destinationId }: { destinationId: string }) => `test events of ${destinationId}`;

/** The same for all requests with one idempotency key, so that a lease says whether it is that of the same request. */
function leaseIdOf(idempotency: CallIdempotency | undefined, newId: () => string): string {
  if (idempotency === undefined) return newId();
  const { callerId, operation, key } = idempotency;
  return idOfName('test event', callerId, operation, key);
}

/**
 * Returns the function that runs `send` under the destination's lease. While any replica has the lease, the function throws Fault
 * `idempotency_in_progress` if the lease is that of the same request, and otherwise `test_event_under_way`; it also throws `overloaded`.
 */
function createUnderLease({ log }: TestEventDeps) {
  let underWay = 0;
  return async <T>(
    db: ScopedPool,
    lease: TestEventLease,
    isKeyed: boolean,
    send: () => Promise<T>,
  ): Promise<T> => {
    if (underWay >= MAX_UNDER_WAY) {
      throw resourceExhausted('overloaded', 'too many test events are under way', 1);
    }
    underWay += 1;
    try {
      if (!(await leaseTestEvent(db.onRow(rowOf(lease)), lease, LEASE_MS)))
        throw await refusalOf(db, lease, isKeyed);
      return await send().finally(() =>
        // The call does not fail with it: the receiver's answer is stored already.
        releaseTestEvent(db, lease).catch((err) => {
          const { destinationId } = lease;
          log.warn(
            { err, destinationId },
            'the lease of a test event lasts until its time has passed',
          );
        }),
      );
    } finally {
      underWay -= 1;
    }
  };
}

async function refusalOf(db: ScopedPool, lease: TestEventLease, isKeyed: boolean): Promise<Fault> {
  // A lease that has ended since counts as that of the same request: this one is to be repeated with its key, too.
  if (isKeyed && !(await hasOtherTestEventLease(db, lease))) {
    const message = 'An earlier request with this Idempotency-Key is still under way.';
    return conflict('idempotency_in_progress', message);
  }
  return conflict('test_event_under_way', 'Another test event to the destination is under way.');
}

const UNREADABLE: Outcome = { kind: 'failed', reason: SECRET_UNREADABLE };

async function postExample(
  deps: TestEventDeps,
  db: ScopedPool,
  destinationId: string,
  { event, payload }: SendTestEventRequest,
  { traceparent }: Call,
): Promise<SentTestEvent> {
  const { destinations, eventTypes, newId } = deps;
  const eventType = eventTypes.get(event);
  if (eventType === undefined) {
    const message = 'must be an event that webhooks are sent for';
    throw invalid('unknown_event', `event ${message}`, [{ pointer: '/event', message }]);
  }
  const { body, mismatch } = eventType.renderBody(JSON.parse(payload));
  if (mismatch !== undefined) {
    throw internal(new Error(`the example of ${event} does not match its schema: ${mismatch}`));
  }
  const webhook = {
    id: newId(),
    sequence: 1,
    body,
    isTest: true,
    eventType,
    destinationId,
    // The body that was sent is an example, so that the answer repeats nobody's data.
    keptAnswerBytes: () => KEPT_ANSWER_BYTES,
  };
  const endMs = performance.now() + MAX_EXCHANGE_MS;
  // The tries and the waits before them share the deadline of one exchange, so that the call ends before the gateway gives up.
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const limited = await destinations.getUncached(destinationId, traceparent);
    const permitEndMs = limited && (await takePermitOf(db, destinationId, limited));
    // The permit may have taken long to come.
    const destination = await destinations.get(destinationId, traceparent);
    if (destination === undefined) throw destinationNotFound();
    const { keys, revision, usableUntilMs } = destination;
    const sent = { webhookId: webhook.id, destinationId, revision, keys };
    // Without a key nothing can be signed.
    if (keys.length === 0) return { ...sent, outcome: UNREADABLE, durationMs: 0 };
    const ownDeadlineMs = endMs - performance.now();
    if (permitEndMs === undefined || ownDeadlineMs <= 0) break;
    const untilMs = Math.min(permitEndMs, usableUntilMs);
    const maySend = () => performance.now() < untilMs;
    const posted = await postWebhook(deps, { ...webhook, destination, maySend, ownDeadlineMs });
    if (posted !== undefined) return { ...sent, ...posted };
  }
  throw unavailable('no request to the destination could begin');
}

/**
 * Takes a permit if the destination has a rate limit; resolves to the time until which the request may begin, by performance.now(),
 * and to undefined when there is no permit soon.
 */
async function takePermitOf(
  db: ScopedPool,
  destinationId: string,
  { revision, deliveriesPerSecond: perSecond }: Destination,
): Promise<number | undefined> {
  if (perSecond === undefined) return Infinity;
  const rate = { destinationId, revision, perSecond };
  return takePermit(db.onRow(rowOf(rate)), rate, MAX_PERMIT_WAIT_MS);
}

/**
 * Stores the answer, and in the same transaction the success at the destination; also when the caller has left, because
 * the event was sent.
 */
function recordTestEvent(
  db: ScopedPool,
  { webhookId, destinationId, revision, keys, outcome, durationMs }: SentTestEvent,
  store: StoreTestAnswer,
): Promise<SendTestEventResponse> {
  const isAnswered = outcome.kind === 'answered';
  const succeeded = isSuccess(outcome);
  return inTransaction(db.onRow(rowOf({ destinationId }), {}), async (tx) => {
    const enabled = succeeded && (await storeTestSuccess(tx, { destinationId, revision }));
    const made = create(SendTestEventResponseSchema, {
      webhookId,
      succeeded,
      ...(isAnswered && { status: outcome.status, answer: outcome.bodyStart ?? '' }),
      ...(!isAnswered && {
        failure: outcome.reason,
        failureMessage: sentenceOf(outcome.reason),
      }),
      durationMs,
      enabled,
    });
    const place = placeOfAnswer(destinationId, made);
    const sealedAnswer = made.answer === '' ? undefined : sealAnswer(made.answer, place, keys);
    await store(tx, { ...made, answer: '', ...(sealedAnswer && { sealedAnswer }) });
    return made;
  });
}

/** Where the receiver's answer to a test event is stored. */
const placeOfAnswer = (destinationId: string, { webhookId }: { webhookId: string }) => ({
  table: 'idempotency',
  column: 'response',
  row: webhookId,
  tenant: destinationId,
});

/** The answer to a call with the receiver's answer in the clear; without it when no live secret of the destination opens it. */
async function withOpenedAnswer(
  { destinations }: TestEventDeps,
  destinationId: string,
  response: SendTestEventResponse,
  { traceparent }: Call,
): Promise<SendTestEventResponse> {
  const { sealedAnswer } = response;
  if (sealedAnswer.length === 0) return response;
  const keys = (await destinations.getUncached(destinationId, traceparent))?.keys ?? [];
  const answer = openAnswer(sealedAnswer, placeOfAnswer(destinationId, response), keys) ?? '';
  return { ...response, answer, sealedAnswer: new Uint8Array() };
}
