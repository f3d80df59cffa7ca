/** Reads a delivery with its latest attempts, for the owner of its destination. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { runPipeline } from '@creditlane/postgres/pipeline';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Call } from '@creditlane/rpc/call';
import type { Destinations } from '../destinations/destinations.ts';
import { sentenceOf } from '../egress/failures.ts';
import type { EventTypes } from '../events/record-ids.ts';
import type { DestinationRevision } from '../events/webhook-event-type.ts';
import { openAnswer, placeOfAttempt } from '../sending/sealed-answer.ts';
import { type AnswerRow, findAnswersQuery } from '../store/attempt-answers.ts';
import {
  findAttemptsQuery,
  findOwnDeliveryOfAnyDay,
  findOwnDeliveryQuery,
  type OwnAttemptRow,
} from '../store/own-deliveries.ts';
import { deliveryNotFound, toOwnDelivery } from './own-delivery.ts';
import { deliveriesOf } from './own-destination.ts';

const MAX_ATTEMPTS = 1_000;
/** Two series of attempts. As text in JSON, each has 12 KiB at most. */
const MAX_ANSWERS = 20;

export interface ReadOwnDeliveryDeps {
  readonly requests: RequestPool;
  readonly eventTypes: EventTypes;
  readonly destinations: Pick<Destinations, 'get'>;
}

/** @throws Fault `delivery_not_found` */
export async function readOwnDelivery(
  deps: ReadOwnDeliveryDeps,
  destination: DestinationRevision | undefined,
  deliveryId: string,
  call: Call,
) {
  if (destination === undefined) throw deliveryNotFound();
  const { destinationId } = destination;
  const db = deliveriesOf(deps.requests, call, destination);
  const [found, attempts, sealed] = await runPipeline(db, [
    findOwnDeliveryQuery(deliveryId, destination),
    findAttemptsQuery(deliveryId, MAX_ATTEMPTS),
    findAnswersQuery(deliveryId, MAX_ANSWERS),
  ]);
  const row = found ?? (await findOwnDeliveryOfAnyDay(db, deliveryId, destination));
  if (row === undefined) throw deliveryNotFound();
  const answers = await openAnswers(deps, { deliveryId: row.id, destinationId }, sealed, call);
  return {
    delivery: toOwnDelivery(row, deps.eventTypes),
    attempts: attempts.map((attempt) => toOwnAttempt(attempt, answers)),
  };
}

/** The answers by the times at which their attempts began, without those that no live secret opens. */
async function openAnswers(
  { destinations }: ReadOwnDeliveryDeps,
  delivery: { deliveryId: string; destinationId: string },
  rows: readonly AnswerRow[],
  { traceparent }: Call,
): Promise<ReadonlyMap<number, string>> {
  const answers = new Map<number, string>();
  if (rows.length === 0) return answers;
  const destination = await destinations.get(delivery.destinationId, traceparent);
  for (const { startedAt, sealed } of rows) {
    const place = placeOfAttempt({ ...delivery, startedAt });
    const answer = openAnswer(sealed, place, destination?.keys ?? []);
    if (answer !== undefined) answers.set(startedAt.getTime(), answer);
  }
  return answers;
}

function toOwnAttempt(
  { startedAt, durationMs, status, failure }: OwnAttemptRow,
  answers: ReadonlyMap<number, string>,
) {
  return {
    startedAt: timestampFromDate(startedAt),
    durationMs,
    status: status ?? 0,
    failure: failure ?? '',
    failureMessage: sentenceOf(failure ?? ''),
    answer: answers.get(startedAt.getTime()) ?? '',
  };
}
