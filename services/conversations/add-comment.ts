/** Adds a comment: checks it, writes it once, and answers a repetition. */
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { answerCall } from '@creditlane/idempotency/answer-call';
import { withKeyedDigest } from '@creditlane/idempotency/keyed-digest';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import {
  type CommentAsCreditorRequest,
  type CommentAsCreditorResponse,
  CommentAsCreditorResponseSchema,
  type CommentAsRetailerUserRequest,
} from '@creditlane/proto/conversations/v1/conversations_service';
import type { Call } from '@creditlane/rpc/call';
import type { PeerClient } from '@creditlane/rpc/peer-client';
import {
  applicationNotFound,
  rowOf,
  type SubmissionKey,
  submissionNotFound,
} from '@creditlane/rpc/submission';
import type { Clock } from '@creditlane/runtime/clock';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import type { Keys } from '@creditlane/runtime/setting';
import { checkContent, checkCreditorComment, checkRetailerComment } from './comment.ts';
import { insertComment, type NewComment } from './store/comments.ts';
import { findSubmissionState } from './submission-state.ts';

export interface AddCommentDeps {
  requests: RequestPool;
  applications: PeerClient<typeof ApplicationsService>;
  /** Seals the comments. */
  keyRing: KeyRing;
  /** The HMAC key for the digests of requests that have an idempotency key. */
  digestKeys: Renewed<Keys>;
  clock: Clock;
  newId: () => string;
}

/** Adds a comment of a creditor's user. Throws a Fault of `checkContent` or `checkCreditorComment`. */
export async function commentAsCreditor(
  deps: AddCommentDeps,
  submission: SubmissionKey,
  call: Call,
  { userName, comment }: CommentAsCreditorRequest,
): Promise<CommentAsCreditorResponse> {
  checkContent(comment, userName);
  // Only its creditor comments on a submission; to any other caller the submission does not exist.
  if (call.identity.creditorId !== submission.creditorId) throw submissionNotFound();
  return addOnce(deps, submission, call, async () => {
    const state = await findSubmissionState(deps.applications, submission, call);
    const retailerId = checkCreditorComment(state);
    return { side: 'CREDITOR', retailerId, authorUserId: null, content: { userName, comment } };
  });
}

/**
 * Adds a comment of a retailer's user, queued for delivery to the creditor. Throws a Fault of
 * `checkContent` or `checkRetailerComment`.
 */
export async function commentAsRetailerUser(
  deps: AddCommentDeps,
  submission: SubmissionKey,
  call: Call,
  { userId, comment }: CommentAsRetailerUserRequest,
): Promise<void> {
  checkContent(comment);
  const { identity } = call;
  if (identity.retailerId === undefined) throw applicationNotFound();
  await addOnce(deps, submission, call, async () => {
    const state = await findSubmissionState(deps.applications, submission, call, userId);
    const { retailerId, authorName } = checkRetailerComment(state, identity);
    const content = { userName: authorName, comment };
    return { side: 'RETAILER', retailerId, authorUserId: userId, content };
  });
}

type CheckedComment = Pick<NewComment, 'side' | 'retailerId' | 'authorUserId' | 'content'>;

/**
 * Adds the comment that `check` returns. A request repeated with its idempotency key adds nothing, is not
 * checked again, and gets the first answer. An application that is archived after the check and before
 * the commit, milliseconds later, keeps the comment.
 */
async function addOnce(
  { requests, keyRing, digestKeys, clock, newId }: AddCommentDeps,
  submission: SubmissionKey,
  call: Call,
  check: () => Promise<CheckedComment>,
): Promise<CommentAsCreditorResponse> {
  const db = requests.of(call);
  const keyed = withKeyedDigest(call, digestKeys);
  return answerCall(db, keyed, CommentAsCreditorResponseSchema, async (store) => {
    // Before the transaction: no connection waits for another service.
    const checked = await check();
    const [id, createdAt] = [newId(), clock()];
    const answer = create(CommentAsCreditorResponseSchema, {
      id,
      createdAt: timestampFromDate(createdAt),
    });
    const integrationId = call.identity.subject;
    await inTransaction(db.onRow(rowOf(submission)), async (tx) => {
      // The answer is stored first, so that a duplicate request waits here for the stored answer.
      await store(tx, answer);
      await insertComment(tx, keyRing, { ...checked, id, submission, integrationId, createdAt });
    });
    return answer;
  });
}
