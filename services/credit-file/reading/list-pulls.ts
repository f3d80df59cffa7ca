/** Lists the pulls of an applicant, each with the evidence that it was permitted. */
import { create, fromJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  ConsentEvidenceSchema,
  type PullEvidence,
  PullEvidenceSchema,
} from '@creditlane/proto/creditfile/v1/credit_file_service';
import { type ListKey, sequenceBefore } from '@creditlane/rpc/lists/list-cursor';
import { type Page, pageOf } from '@creditlane/rpc/lists/list-page';
import { requireApplicant } from '../inquiry/inquiry-subject.ts';
import { pullMessage } from '../pulls/pull.ts';
import type { ApplicantCall } from '../scope.ts';
import { findPulls, type ListedPull } from '../store/pulls.ts';
import type { ReadCreditFileDeps } from './read-credit-file.ts';

/**
 * A page of the applicant's pulls, newest first.
 * @throws Fault `applicant_not_found` or `invalid_cursor`
 */
export async function listPulls(
  deps: Pick<ReadCreditFileDeps, 'requests' | 'consents'>,
  applicantCall: ApplicantCall,
  { limit, cursor }: { limit: number; cursor: string },
): Promise<Page<PullEvidence>> {
  const { applicant, retailerId, call } = applicantCall;
  const list: ListKey = ['pulls', applicant.applicationId, applicant.applicantId];
  // One pull more than the page holds shows whether there is a next page.
  const page = { before: sequenceBefore(cursor, list), limit: limit + 1 };
  const rows = await findPulls(deps.requests.of(call), applicant, retailerId, page);
  if (rows.length === 0) await requireApplicant(deps.consents, applicantCall);
  return pageOf(list, rows, limit, ({ seq }) => [String(seq)], evidenceMessage);
}

function evidenceMessage(pull: ListedPull): PullEvidence {
  return create(PullEvidenceSchema, {
    pull: pullMessage(pull),
    requestedBy: pull.requestedBy,
    retailerId: pull.retailerId,
    requestId: pull.requestId,
    callerRequestId: pull.callerRequestId ?? '',
    forced: pull.forced,
    // Its stored names are those of the message.
    consent: fromJson(ConsentEvidenceSchema, { ...pull.consent }, { ignoreUnknownFields: true }),
    ...(pull.sentAt && { sentAt: timestampFromDate(pull.sentAt) }),
    hitType: pull.hitType ?? '',
  });
}
