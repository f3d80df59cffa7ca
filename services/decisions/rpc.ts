/** DecisionsService: translates between the messages of the contract and the use cases. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { submissionOf } from '@creditlane/rpc/submission';
import { getIncomeStatus, setIncomeStatus } from './income-status.ts';
import { getDecision, listDecisions } from './read-decisions.ts';
import { type RecordDecisionDeps, recordDecision } from './record-decision/record-decision.ts';
import type { DecisionRecord } from './store/decisions.ts';

/** The routes to mount. */
export function decisionsRoutes(deps: RecordDecisionDeps): ServiceRoutes {
  return implement(DecisionsService, {
    recordDecision: (request, call) =>
      // The proto requires a decision.
      recordDecision(deps, submissionOf(request), call, request.decision as Decision),

    setIncomeStatus: (request, call) =>
      setIncomeStatus(deps, submissionOf(request), call, request.incomeStatus),

    getIncomeStatus: (request, call) => getIncomeStatus(deps, submissionOf(request), call),

    async getDecision(request, call) {
      return { decision: await getDecision(deps, submissionOf(request), call) };
    },

    async listDecisions(request, call) {
      const page = await listDecisions(deps, submissionOf(request), call, request);
      return { decisions: page.items.map(recordedDecision), nextCursor: page.nextCursor };
    },
  });
}

function recordedDecision({ seq, recordedAt, integrationId, decision }: DecisionRecord) {
  return {
    sequence: BigInt(seq),
    decision,
    recordedAt: timestampFromDate(recordedAt),
    integrationId: integrationId ?? '',
  };
}
