/** For tests: the decisions service, as the gateway calls it. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { type Decision, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import type { Call } from '@creditlane/rpc/call';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { submissionNotFound } from '@creditlane/rpc/submission';
import { newId } from '@creditlane/runtime/ids';
import { recordingFake, type TestServices } from './test-services.ts';

type Ids = { applicationId: string; creditorId: string };

export function fakeDecisionsService(services: TestServices): ServiceRoutes[] {
  const own = ({ applicationId, creditorId }: Ids, { identity }: Call) => {
    const decisions = services.submissions.get(`${applicationId} ${creditorId}`);
    const retailerId = services.applications.get(applicationId)?.retailerId;
    const sees =
      identity.creditorId === creditorId ||
      (retailerId !== undefined && identity.retailerId === retailerId);
    if (decisions === undefined || !sees) {
      throw submissionNotFound();
    }
    return decisions;
  };
  const replays = new Map<string, Decision>();
  return [
    recordingFake(services, DecisionsService, {
      recordDecision: async (request, call) => {
        const decisions = own(request, call);
        const key = call.idempotency?.key ?? newId();
        const earlier = replays.get(key);
        if (earlier !== undefined) {
          call.markReplayed();
          return { decision: earlier };
        }
        if (request.decision !== undefined) {
          decisions.push(request.decision);
          replays.set(key, request.decision);
        }
        return { ...(request.decision && { decision: request.decision }) };
      },
      getDecision: async (request, call) => {
        await services.gates.getDecision.pop()?.(call);
        const latest = own(request, call).at(-1);
        return { decision: latest ?? { decision: DecisionValue.AWAITING_DECISION } };
      },
      setIncomeStatus: async (request, call) => {
        own(request, call);
        return { incomeStatus: request.incomeStatus };
      },
      getIncomeStatus: async (request, call) => {
        own(request, call);
        return {};
      },
      listDecisions: async (request, call) => {
        const records = own(request, call).map((decision, index) => ({
          sequence: BigInt(index + 1),
          decision,
          recordedAt: timestampFromDate(new Date('2026-02-01T12:00:00Z')),
          integrationId: call.identity.subject,
        }));
        return { decisions: records.reverse(), nextCursor: 'next' };
      },
    }),
  ];
}
