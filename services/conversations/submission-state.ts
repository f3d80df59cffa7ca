/** Asks the applications service about a submission at the time of a call, so that no stale copy decides. */
import type { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import type { Client } from '@creditlane/rpc/client';
import { serviceIdentity } from '@creditlane/rpc/identity';
import type { SubmissionCall } from '@creditlane/rpc/submission-call';
import type { SubmissionState } from './comment.ts';

const CONVERSATIONS = serviceIdentity('conversations');

/**
 * The present state of a submission.
 *
 * @param userId the author on the retailer's side; undefined for none
 * @throws Fault `unavailable` while the applications service cannot be reached
 */
export async function findSubmissionState(
  applications: Client<typeof ApplicationsService>,
  { submission, call }: SubmissionCall,
  userId?: string,
): Promise<SubmissionState> {
  const { retailerId, user, ...state } = await applications.getSubmissionState(
    { ...submission, userId: userId ?? '' },
    { ...call, identity: CONVERSATIONS },
  );
  return {
    ...state,
    retailerId: retailerId || undefined,
    authorName: user && `${user.firstName} ${user.lastName}`,
  };
}
