/** Writes comments, each as the latest one of its conversation. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { SubmissionKey } from '@creditlane/rpc/submission';
import type { Side } from '../comment.ts';
import { type CommentContent, sealComment } from '../sealed-comment.ts';

export interface NewComment {
  id: string;
  submission: SubmissionKey;
  /** The application's retailer. */
  retailerId: string;
  side: Side;
  integrationId: string;
  /** Null on the creditor's side. */
  authorUserId: string | null;
  content: CommentContent;
  createdAt: Date;
}

/**
 * The first comment makes the conversation. Later ones wait for the conversation's row lock, so that
 * sequences have no gap and a page of older comments never gains one.
 */
const advanceConversation = defineStatement(
  'conversation_advance',
  `INSERT INTO conversations (application_id, creditor_id, retailer_id, last_seq)
   VALUES ($1::uuid, $2::uuid, $3::uuid, 1)
   ON CONFLICT (application_id, creditor_id)
     DO UPDATE SET last_seq = conversations.last_seq + 1`,
);

/**
 * A statement of its own: row security lets a retailer insert a comment only where it sees the conversation,
 * and a statement does not see the rows that it inserts.
 */
const insertRow = defineStatement(
  'comment_insert',
  `INSERT INTO comments (id, application_id, creditor_id, seq, side, integration_id,
     author_user_id, sealed, sealed_with, created_at)
   SELECT $3::uuid, application_id, creditor_id, last_seq, $4::text, $5::uuid,
     $6::uuid, $7::bytea, $8::text, $9::timestamptz
   FROM conversations WHERE application_id = $1::uuid AND creditor_id = $2::uuid`,
);

/** Inserts a comment as the latest one of its conversation, queued for the other side. */
export async function insertComment(
  tx: Queryable,
  keyRing: KeyRing,
  { id, submission, retailerId, content, ...comment }: NewComment,
): Promise<void> {
  const key = [submission.applicationId, submission.creditorId];
  const { sealed, sealedWith } = sealComment(keyRing, content, id, retailerId);
  await runPipeline(tx, [
    advanceConversation.query([...key, retailerId]),
    insertRow.query([
      ...key,
      id,
      comment.side,
      comment.integrationId,
      comment.authorUserId,
      sealed,
      sealedWith,
      comment.createdAt,
    ]),
  ]);
}
