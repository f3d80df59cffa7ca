/** The decisions service as its proto states it. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  findReplay,
  isDuplicateRequest,
  refuseWhileDuplicateRuns,
} from '@creditlane/idempotency/stored-answers';
import { translateDatabaseErrors } from '@creditlane/postgres/database-fault';
import type { Queryable } from '@creditlane/postgres/statement';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import {
  DecisionsService,
  type RecordDecisionResponse,
  RecordDecisionResponseSchema,
} from '@creditlane/proto/decisions/v1/decisions_service';
import type { Call } from '@creditlane/rpc/call';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import type { Clock } from '@creditlane/runtime/clock';
import { cursorAfter, seqBefore } from './cursor.ts';
import { checkWritable } from './decision.ts';
import { hasRecorded, isRepeated } from './decision-store.ts';
import type { RecordDecision } from './recording.ts';
import { type DecisionRecord, decisionHistory, latestDecision } from './store.ts';
import { type Scope, type SubmissionKey, scopeOf, submissionKey } from './submission.ts';
import { type LookupDeps, type SubmissionCall, withSubmission } from './submission-lookup.ts';

export interface RpcDeps extends LookupDeps {
  db: Queryable;
  recordDecision: RecordDecision;
  clock: Clock;
  /** Tells the relay of an event to publish. */
  wakeRelay(): void;
}

/** What is to be mounted. */
export function decisionsRoutes(deps: RpcDeps): ServiceRoutes {
  const { db } = deps;
  return implement(
    DecisionsService,
    translateDatabaseErrors({
      async recordDecision(request, call) {
        const decision = request.decision as Decision; // its proto says it is required
        checkWritable(decision);
        // A retailer reads decisions and makes none.
        const { creditorId } = call.identity;
        const about = submissionCall(request, { creditorId }, call);
        return withSubmission(deps, about, () => recordOnce(deps, about, decision));
      },

      async getDecision(request, call) {
        const about = submissionCall(request, call.identity, call);
        const decision = await withSubmission(deps, about, () =>
          latestDecision(db, about.key, about.scope),
        );
        return { decision };
      },

      async listDecisions(request, call) {
        const about = submissionCall(request, call.identity, call);
        const before = seqBefore(request.cursor);
        // One more than asked for tells whether there is a next page.
        const page = { before, limit: request.limit + 1 };
        const records = await withSubmission(deps, about, () =>
          decisionHistory(db, about.key, about.scope, page),
        );
        const shown = records.slice(0, request.limit);
        const last = shown.at(-1);
        return {
          decisions: shown.map(recordedDecision),
          nextCursor: last && records.length > shown.length ? cursorAfter(last.seq) : '',
        };
      },
    }),
  );
}

/**
 * Records the decision, or gives the answer that its idempotency key has had already, or that an
 * earlier attempt at its call would have had. Undefined where there is no such submission within the scope.
 */
async function recordOnce(
  deps: RpcDeps,
  about: SubmissionCall,
  decision: Decision,
): Promise<RecordDecisionResponse | undefined> {
  const { db } = deps;
  const { key, scope, call } = about;
  const { idempotency } = call;
  let clashed = false;
  try {
    const answer = await record(deps, about, decision);
    if (answer !== undefined) return answer;
  } catch (error) {
    if (isRepeated(error)) return answerAgain(deps, about, decision, error);
    if (idempotency === undefined) throw error;
    await refuseWhileDuplicateRuns(db, idempotency, error);
    if (!isDuplicateRequest(error)) throw error;
    clashed = true;
  }
  // Nothing was written. An answer kept for the key is given only to who may still see the submission.
  if (idempotency === undefined || scope.creditorId !== key.creditorId) return undefined;
  const replay = await findReplay(db, idempotency);
  // The answer it clashed with had outlived its day, and is out of the way now.
  if (replay === undefined) return clashed ? record(deps, about, decision) : undefined;
  call.markReplayed();
  return fromBinary(RecordDecisionResponseSchema, replay.response);
}

/** Undefined, and nothing is written, as `RecordDecision` says. */
async function record(
  { recordDecision, clock, wakeRelay }: RpcDeps,
  { key, scope, call }: SubmissionCall,
  decision: Decision,
): Promise<RecordDecisionResponse | undefined> {
  const { idempotency, retryToken, traceparent, identity } = call;
  const answer = create(RecordDecisionResponseSchema, { decision });
  const seq = await recordDecision({
    submission: key,
    scope,
    decision,
    recordedAt: clock(),
    integrationId: identity.subject,
    callId: retryToken,
    traceparent,
    remember: idempotency && {
      idempotency,
      response: toBinary(RecordDecisionResponseSchema, answer),
    },
  });
  if (seq === undefined) return undefined;
  wakeRelay();
  return answer;
}

/** The answer to a call that has recorded its decision, though nobody was told. */
async function answerAgain(
  { db, wakeRelay }: RpcDeps,
  { key, call }: SubmissionCall,
  decision: Decision,
  error: unknown,
): Promise<RecordDecisionResponse> {
  const { identity, retryToken } = call;
  if (!(await hasRecorded(db, key, { integrationId: identity.subject, callId: retryToken })))
    throw error;
  // The replica that recorded it may have died before it said so.
  wakeRelay();
  return create(RecordDecisionResponseSchema, { decision });
}

function submissionCall(ids: SubmissionKey, scope: Scope, call: Call): SubmissionCall {
  return { key: submissionKey(ids), scope: scopeOf(scope), call };
}

function recordedDecision({ seq, recordedAt, integrationId, decision }: DecisionRecord) {
  return {
    sequence: BigInt(seq),
    decision,
    recordedAt: timestampFromDate(recordedAt),
    integrationId: integrationId ?? '',
  };
}
