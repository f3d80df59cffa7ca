/** Replay jobs: an integration asks for one, reads how far it is, and may cancel it. */
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { answerCall } from '@creditlane/idempotency/answer-call';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import { inTransaction } from '@creditlane/postgres/transaction';
import {
  type CancelReplayResponse,
  CancelReplayResponseSchema,
  type ReplayDeliveriesResponse,
  ReplayDeliveriesResponseSchema,
  ReplayState,
} from '@creditlane/proto/webhooks/v1/deliveries_service';
import type { Call } from '@creditlane/rpc/call';
import { conflict, type Fault, notFound } from '@creditlane/rpc/fault';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { DELIVERY_STATES } from '../delivery-states.ts';
import type { DestinationRevision } from '../events/webhook-event-type.ts';
import type { OpenBreakers } from '../queue/open-breakers.ts';
import type { ReplayJobWorker } from '../replay-jobs/replay-job-worker.ts';
import { isDestinationDisabled } from '../store/destinations.ts';
import {
  endReplayJob,
  findReplayJob,
  findUnfinishedReplayJob,
  insertReplayJob,
  type ReplayFilter,
  type ReplayJobRow,
  type ReplayJobState,
} from '../store/replay-jobs.ts';
import { checkRange } from './list-own-deliveries.ts';
import { deliveriesOf, destinationIsDisabled, destinationNotFound } from './own-destination.ts';

export interface ReplayJobDeps {
  readonly requests: RequestPool;
  readonly log: Log;
  readonly breakers: Pick<OpenBreakers, 'requestProbe'>;
  readonly replayJobs: Pick<ReplayJobWorker, 'wake' | 'reportEnd'>;
  readonly newId: () => string;
}

const STATES: Readonly<Record<ReplayJobState, ReplayState>> = {
  counting: ReplayState.COUNTING,
  running: ReplayState.RUNNING,
  completed: ReplayState.COMPLETED,
  stopped: ReplayState.STOPPED,
  cancelled: ReplayState.CANCELLED,
};

/**
 * Stores a job that replays the deliveries to `destination` that match the filter; the worker then runs it.
 *
 * @throws Fault `destination_not_found`, `invalid_range`, `destination_disabled`, `replay_under_way`, or a
 *   fault of the idempotency key
 */
export async function requestReplayJob(
  { requests, log, breakers, replayJobs, newId }: ReplayJobDeps,
  destination: DestinationRevision | undefined,
  filter: ReplayFilter,
  call: Call,
): Promise<ReplayDeliveriesResponse> {
  if (destination === undefined) throw destinationNotFound();
  checkRange(filter, '/filter');
  const { destinationId } = destination;
  const { identity, requestId } = call;
  const db = deliveriesOf(requests, call, destination);
  const job = { id: newId(), integrationId: identity.subject, destinationId, ...filter };

  return answerCall(db, call, ReplayDeliveriesResponseSchema, async (store) => {
    const answer = await inTransaction(db.onRow(destinationId), async (tx) => {
      if (await isDestinationDisabled(tx, destination)) throw destinationIsDisabled();
      const inserted = await insertReplayJob(tx, job);
      // Of two duplicate requests, the second meets the job of the first, and then gets the first one's stored answer.
      if (inserted === undefined) {
        throw replayUnderWay(await findUnfinishedReplayJob(tx, destinationId));
      }
      const response = create(ReplayDeliveriesResponseSchema, { replay: toReplay(inserted) });
      await store(tx, response);
      return response;
    });
    const { id: replayId, integrationId } = job;
    log.info(
      { replayId, integrationId, destinationId, requestId, ...filter },
      'a replay of deliveries is requested',
    );
    breakers.requestProbe(destination);
    replayJobs.wake();
    return answer;
  });
}

/** @param replayId undefined for a job of the platform's operators, which row security hides */
function replayUnderWay(replayId: string | undefined): Fault {
  const which = replayId === undefined ? 'A replay by the platform' : `The replay ${replayId}`;
  return conflict('replay_under_way', `${which} of your deliveries is not finished yet.`);
}

/** @throws Fault `replay_not_found` */
export async function readReplayJob(
  { requests }: Pick<ReplayJobDeps, 'requests'>,
  id: string,
  call: Call,
) {
  const job = await findReplayJob(replayJobsOf(requests, call), id, call.identity.subject);
  if (job === undefined) throw replayJobNotFound();
  return { replay: toReplay(job) };
}

/**
 * Ends a job that has not ended yet.
 *
 * @throws Fault `replay_not_found`, or a fault of the idempotency key
 */
export async function cancelReplayJob(
  { requests, replayJobs }: ReplayJobDeps,
  id: string,
  call: Call,
): Promise<CancelReplayResponse> {
  const { identity } = call;
  const db = replayJobsOf(requests, call);
  return answerCall(db, call, CancelReplayResponseSchema, async (store) => {
    let cancelled: ReplayJobRow | undefined;
    const answer = await inTransaction(db.onRow(id), async (tx) => {
      const job = await findReplayJob(tx, id, identity.subject);
      if (job === undefined) throw replayJobNotFound();
      cancelled = await endReplayJob(tx, id, 'cancelled');
      const last = cancelled ?? (await findReplayJob(tx, id, identity.subject)) ?? job;
      const response = create(CancelReplayResponseSchema, { replay: toReplay(last) });
      await store(tx, response);
      return response;
    });
    if (cancelled !== undefined) replayJobs.reportEnd(cancelled);
    return answer;
  });
}

/** For the jobs that the caller has asked for, whether or not it still has a destination. */
function replayJobsOf(requests: RequestPool, call: Call) {
  return requests.of(call, { integrations: [call.identity.subject] });
}

function toReplay(job: ReplayJobRow) {
  const { createdFrom, createdBefore, matched, replayed, skipped, finishedAt } = job;
  return {
    replayId: job.id,
    state: STATES[job.state],
    reason: job.reason ?? '',
    filter: {
      state: DELIVERY_STATES[job.deliveryState],
      event: job.event ?? '',
      ...(createdFrom && { createdFrom: timestampFromDate(createdFrom) }),
      ...(createdBefore && { createdBefore: timestampFromDate(createdBefore) }),
    },
    matched,
    replayed,
    skipped,
    remaining: Math.max(0, matched - replayed - skipped),
    requestedAt: timestampFromDate(job.requestedAt),
    ...(finishedAt && { finishedAt: timestampFromDate(finishedAt) }),
  };
}

const replayJobNotFound = () => notFound('replay_not_found', 'There is no such replay.');
