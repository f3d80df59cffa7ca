/** Reads the latest decision of a submission, and the history of its decisions page by page. */
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import type { Call } from '@creditlane/rpc/call';
import { type ListKey, sequenceBefore } from '@creditlane/rpc/lists/list-cursor';
import { type Page, pageOf } from '@creditlane/rpc/lists/list-page';
import type { SubmissionKey } from '@creditlane/rpc/submission';
import { runOnSubmission, type SubmissionDeps } from './run-on-submission.ts';
import { type DecisionRecord, findDecisions, findLatestDecision } from './store/decisions.ts';

export interface ReadDecisionsDeps extends SubmissionDeps {
  requests: RequestPool;
}

/** The latest decision. Throws as `runOnSubmission` does. */
export function getDecision(
  deps: ReadDecisionsDeps,
  submission: SubmissionKey,
  call: Call,
): Promise<Decision> {
  return runOnSubmission(deps, submission, call, () =>
    findLatestDecision(deps.requests.of(call), submission, call.identity),
  );
}

/**
 * A page of a submission's decisions, newest first. Throws as `runOnSubmission` does, or the Fault
 * `invalid_cursor`.
 */
export async function listDecisions(
  deps: ReadDecisionsDeps,
  submission: SubmissionKey,
  call: Call,
  { limit, cursor }: { limit: number; cursor: string },
): Promise<Page<DecisionRecord>> {
  const list: ListKey = ['decisions', submission.applicationId, submission.creditorId];
  // One record more than the page holds shows whether there is a next page.
  const page = { before: sequenceBefore(cursor, list), limit: limit + 1 };
  const found = await runOnSubmission(deps, submission, call, () =>
    findDecisions(deps.requests.of(call), submission, call.identity, page),
  );
  return pageOf(list, found, limit, ({ seq }) => [String(seq)]);
}
