/** Reads a conversation page by page, which delivers the other side's comments to the reader. */
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { SealError } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import {
  type Comment,
  CommentSchema,
  DeliveryState,
  Side as SideValue,
} from '@creditlane/proto/conversations/v1/comment';
import type { Call } from '@creditlane/rpc/call';
import { type ListKey, sequenceBefore } from '@creditlane/rpc/lists/list-cursor';
import { type Page, pageOf } from '@creditlane/rpc/lists/list-page';
import type { PeerClient } from '@creditlane/rpc/peer-client';
import { couldBeInScope, rowOf, type SubmissionKey } from '@creditlane/rpc/submission';
import type { Clock } from '@creditlane/runtime/clock';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { conversationNotFound, sideOf } from './comment.ts';
import { type CommentContent, openComment } from './sealed-comment.ts';
import { type CommentRow, findComments, markDelivered } from './store/conversations.ts';
import { findSubmissionState } from './submission-state.ts';

export interface ReadConversationDeps {
  requests: RequestPool;
  applications: PeerClient<typeof ApplicationsService>;
  /** Opens the sealed comments. */
  keyRing: KeyRing;
  clock: Clock;
  log: Log;
}

const listOf = ({ applicationId, creditorId }: SubmissionKey): ListKey => [
  'comments',
  applicationId,
  creditorId,
];

type OpenedComment = Omit<CommentRow, 'sealed'> & CommentContent;

/**
 * A page of a conversation, newest comment first. Comments of the other side that no integration has
 * read before are delivered to the calling one, unless the call discards the answer. A comment counts as
 * delivered once it is part of an answer, also when the connection breaks before the answer arrives. A comment whose
 * bytes were damaged is left out, so that all others can be read: a page of nothing else is empty. When the conversation's
 * newest comments cannot be decrypted either, the key ring is at fault rather than the bytes, and the read fails.
 *
 * @throws Fault `conversation_not_found`, the same for another tenant's conversation as for none at all, or
 *   `invalid_cursor`
 */
export async function readConversation(
  deps: ReadConversationDeps,
  submission: SubmissionKey,
  call: Call,
  { limit, cursor, discarded }: { limit: number; cursor: string; discarded: boolean },
): Promise<Page<Comment>> {
  const list = listOf(submission);
  // One comment more than the page holds shows whether there is a next page.
  const page = { before: sequenceBefore(cursor, list), limit: limit + 1 };
  const found = await findComments(deps.requests.of(call), submission, call.identity, page);
  if (found === undefined) await requireSubmission(deps, submission, call);
  const { items, nextCursor } = pageOf(
    list,
    found ?? [],
    limit,
    ({ seq }) => [String(seq)],
    (row) => {
      const comment = openRow(deps.keyRing, row);
      if (comment instanceof SealError) {
        deps.log.error({ err: comment, commentId: row.id }, 'a comment cannot be decrypted');
      }
      return comment;
    },
    ({ sealed }) => sealed.length,
  );
  const opened = items.flatMap((it) => (it instanceof SealError ? [] : [it]));
  const damage = items.findLast((it) => it instanceof SealError);
  if (opened.length === 0 && damage && !(await opensAny(deps, submission, call))) throw damage;
  const comments = discarded ? opened : await deliver(deps, submission, call, opened);
  return { items: comments.map(commentMessage), nextCursor };
}

/** How many of the newest comments are tried before the key ring is taken to be at fault. */
const TRIED_COMMENTS = 100;

/** Whether the key ring opens one of the conversation's newest comments. */
async function opensAny(
  { requests, keyRing }: ReadConversationDeps,
  submission: SubmissionKey,
  call: Call,
): Promise<boolean> {
  const newest = { before: sequenceBefore('', listOf(submission)), limit: TRIED_COMMENTS };
  const rows = (await findComments(requests.of(call), submission, call.identity, newest)) ?? [];
  return rows.some((row) => !(openRow(keyRing, row) instanceof SealError));
}

/** The comment of a row, or the error of one that cannot be decrypted. Throws while the key ring lacks its key. */
function openRow(keyRing: KeyRing, { sealed, ...row }: CommentRow): OpenedComment | SealError {
  try {
    return { ...row, ...openComment(keyRing, sealed, row.id, row.retailerId) };
  } catch (error) {
    if (error instanceof SealError) return error;
    throw error;
  }
}

/** Throws unless the submission is within the scope: its conversation has no comment yet. */
async function requireSubmission(
  { applications }: ReadConversationDeps,
  submission: SubmissionKey,
  call: Call,
): Promise<void> {
  const scope = call.identity;
  if (!couldBeInScope(submission, scope)) throw conversationNotFound();
  const { retailerId, submitted } = await findSubmissionState(applications, submission, call);
  const isOwn = retailerId !== undefined && sideOf(submission, retailerId, scope) !== undefined;
  if (!isOwn || !submitted) throw conversationNotFound();
}

/** Marks the other side's comments as delivered, and resolves to `comments` with their deliveries. */
async function deliver(
  { requests, clock }: ReadConversationDeps,
  submission: SubmissionKey,
  call: Call,
  comments: OpenedComment[],
): Promise<OpenedComment[]> {
  const queued = comments.filter(
    (it) => it.deliveredAt === null && it.side !== sideOf(submission, it.retailerId, call.identity),
  );
  if (queued.length === 0) return comments;
  const ids = queued.map(({ id }) => id);
  const delivery = { at: clock(), integrationId: call.identity.subject };
  const db = requests.of(call).onRow(rowOf(submission));
  const delivered = await markDelivered(db, ids, delivery);
  return comments.map((comment) => ({
    ...comment,
    ...delivered.find(({ id }) => id === comment.id),
  }));
}

function commentMessage({ userName, comment, ...row }: OpenedComment): Comment {
  return create(CommentSchema, {
    id: row.id,
    side: SideValue[row.side],
    author: { userName, userId: row.authorUserId ?? '' },
    comment,
    createdAt: timestampFromDate(row.createdAt),
    integrationId: row.integrationId,
    delivery:
      row.deliveredAt === null
        ? { state: DeliveryState.QUEUED }
        : {
            state: DeliveryState.DELIVERED,
            deliveredAt: timestampFromDate(row.deliveredAt),
            integrationId: row.deliveredToIntegrationId ?? '',
          },
  });
}
