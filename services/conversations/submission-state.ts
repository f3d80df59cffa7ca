/** Asks the applications service about a submission at the time of a call, so that no stale copy decides. */
import type { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import type { Call } from '@creditlane/rpc/call';
import type { PeerClient } from '@creditlane/rpc/peer-client';
import type { SubmissionKey } from '@creditlane/rpc/submission';
import type { SubmissionState } from './comment.ts';

/**
 * The present state of a submission.
 *
 * @param userId the author on the retailer's side; undefined for none
 * @throws Fault `unavailable` while the applications service cannot be reached
 */
export async function findSubmissionState(
  applications: PeerClient<typeof ApplicationsService>,
  submission: SubmissionKey,
  call: Call,
  userId?: string,
): Promise<SubmissionState> {
  const { retailerId, user, ...state } = await applications.getSubmissionState(
    { ...submission, userId: userId ?? '' },
    call,
  );
  return {
    ...state,
    retailerId: retailerId || undefined,
    authorName: user && [user.firstName, user.lastName].filter(Boolean).join(' '),
  };
}
