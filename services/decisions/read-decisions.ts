/** Reads the latest decision of a submission, and the history of its decisions page by page. */
import type { Queryable } from '@creditlane/postgres/statement';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import type { SubmissionCall } from '@creditlane/rpc/submission-call';
import { runOnSubmission, type SubmissionDeps } from './run-on-submission.ts';
import { type DecisionRecord, findDecisions, findLatestDecision } from './store/decisions.ts';

export interface ReadDecisionsDeps extends SubmissionDeps {
  db: Queryable;
}

/** The latest decision. Throws as `runOnSubmission` does. */
export function getDecision(
  deps: ReadDecisionsDeps,
  submissionCall: SubmissionCall,
): Promise<Decision> {
  const { submission, scope } = submissionCall;
  return runOnSubmission(deps, submissionCall, () =>
    findLatestDecision(deps.db, submission, scope),
  );
}

/** A page of a submission's history. */
export interface DecisionPage {
  /** At most `limit` decisions, newest first. */
  records: DecisionRecord[];
  /** The sequence of the page's last decision; undefined when no older decision follows. */
  lastSeq: number | undefined;
}

/** The page of decisions with a sequence under `before`. Throws as `runOnSubmission` does. */
export async function listDecisions(
  deps: ReadDecisionsDeps,
  submissionCall: SubmissionCall,
  { before, limit }: { before: number; limit: number },
): Promise<DecisionPage> {
  const { submission, scope } = submissionCall;
  // One record more than the page holds shows whether there is a next page.
  const found = await runOnSubmission(deps, submissionCall, () =>
    findDecisions(deps.db, submission, scope, { before, limit: limit + 1 }),
  );
  const records = found.slice(0, limit);
  return { records, lastSeq: found.length > limit ? records.at(-1)?.seq : undefined };
}
