/** The state of an integration's destination, which its owner reads, pauses and resumes. */
import {
  create,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { answerCall } from '@creditlane/idempotency/answer-call';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import {
  type OwnDestinationSchema,
  type PauseOwnDestinationResponse,
  PauseOwnDestinationResponseSchema,
  type ResumeOwnDestinationResponse,
  ResumeOwnDestinationResponseSchema,
} from '@creditlane/proto/webhooks/v1/deliveries_service';
import type { Call } from '@creditlane/rpc/call';
import type { Destination, Destinations } from '../destinations/destinations.ts';
import type { DestinationRevision } from '../events/webhook-event-type.ts';
import type { OpenBreakers } from '../queue/open-breakers.ts';
import { findDestinationState, pauseDestination, resumeDestination } from '../store/pauses.ts';
import { deliveriesOf, destinationNotFound } from './own-destination.ts';

export interface OwnDestinationDeps {
  readonly requests: RequestPool;
  readonly destinations: Pick<Destinations, 'getUncached'>;
  readonly breakers: Pick<OpenBreakers, 'refresh'>;
}

type OwnDestination = MessageInitShape<typeof OwnDestinationSchema>;

/** @throws Fault `destination_not_found` */
export async function readOwnDestination(
  deps: OwnDestinationDeps,
  destination: DestinationRevision | undefined,
  call: Call,
): Promise<{ destination: OwnDestination }> {
  if (destination === undefined) throw destinationNotFound();
  const settings = await findSettings(deps, destination, call);
  const db = deliveriesOf(deps.requests, call, destination);
  return { destination: await readState(db, destination, settings) };
}

/**
 * Pauses the destination for `hours` from now on. A pause that it has is replaced. This process reads the pause at once, and
 * each other one when it next reads the circuit breakers; from then on it begins no requests but those of test events.
 *
 * @throws Fault `destination_not_found`, or a fault of the idempotency key
 */
export function pauseOwnDestination(
  deps: OwnDestinationDeps,
  destination: DestinationRevision | undefined,
  hours: number,
  call: Call,
): Promise<PauseOwnDestinationResponse> {
  return changeState(deps, destination, call, {
    schema: PauseOwnDestinationResponseSchema,
    answer: (state) => create(PauseOwnDestinationResponseSchema, { destination: state }),
    change: (tx, paused) => pauseDestination(tx, paused, hours),
  });
}

/**
 * Ends the pause early, if the destination has one: one delivery is sent, and the others once it has succeeded.
 *
 * @throws Fault `destination_not_found`, or a fault of the idempotency key
 */
export function resumeOwnDestination(
  deps: OwnDestinationDeps,
  destination: DestinationRevision | undefined,
  call: Call,
): Promise<ResumeOwnDestinationResponse> {
  return changeState(deps, destination, call, {
    schema: ResumeOwnDestinationResponseSchema,
    answer: (state) => create(ResumeOwnDestinationResponseSchema, { destination: state }),
    change: (tx, { destinationId }) => resumeDestination(tx, destinationId),
  });
}

interface StateChange<D extends DescMessage> {
  readonly schema: D;
  change(tx: Queryable, destination: DestinationRevision): Promise<void>;
  /** The answer, which has the state after the change. */
  answer(state: OwnDestination): MessageShape<D>;
}

async function changeState<D extends DescMessage>(
  deps: OwnDestinationDeps,
  destination: DestinationRevision | undefined,
  call: Call,
  { schema, change, answer }: StateChange<D>,
): Promise<MessageShape<D>> {
  if (destination === undefined) throw destinationNotFound();
  const settings = await findSettings(deps, destination, call);
  const db = deliveriesOf(deps.requests, call, destination);
  const answered = await answerCall(db, call, schema, (store) =>
    inTransaction(db.onRow(destination.destinationId), async (tx) => {
      await change(tx, destination);
      const response = answer(await readState(tx, destination, settings));
      await store(tx, response);
      return response;
    }),
  );
  deps.breakers.refresh();
  return answered;
}

/** What the platform has set of a destination. */
type DestinationSettings = Pick<Destination, 'url' | 'events' | 'deliveriesPerSecond'>;

/** @throws Fault `destination_not_found` when the destination was removed since the call began */
async function findSettings(
  { destinations }: Pick<OwnDestinationDeps, 'destinations'>,
  { destinationId }: DestinationRevision,
  { traceparent }: Call,
): Promise<DestinationSettings> {
  const found = await destinations.getUncached(destinationId, traceparent);
  if (found === undefined) throw destinationNotFound();
  return found;
}

async function readState(
  db: Queryable,
  destination: DestinationRevision,
  { url, events, deliveriesPerSecond }: DestinationSettings,
): Promise<OwnDestination> {
  const state = await findDestinationState(db, destination);
  const { lastSuccessAt, failingSince, disabledAt, disabledReason, pausedUntil } = state;
  return {
    destinationId: destination.destinationId,
    url,
    events: [...events],
    deliveriesPerSecond,
    ...(lastSuccessAt && { lastSuccessAt: timestampFromDate(lastSuccessAt) }),
    ...(failingSince && { failingSince: timestampFromDate(failingSince) }),
    ...(disabledAt && { disabledAt: timestampFromDate(disabledAt) }),
    disabledReason: disabledReason ?? '',
    ...(pausedUntil && { pausedUntil: timestampFromDate(pausedUntil) }),
  };
}
