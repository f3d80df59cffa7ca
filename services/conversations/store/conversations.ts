/** Reads conversations page by page, and marks their comments as delivered. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { Scope } from '@creditlane/rpc/identity';
import { MAX_PAGE_BYTES } from '@creditlane/rpc/lists/list-page';
import type { SubmissionKey } from '@creditlane/rpc/submission';
import type { Side } from '../comment.ts';

/** A comment as it is stored. */
export interface CommentRow {
  id: string;
  seq: number;
  retailerId: string;
  side: Side;
  integrationId: string;
  authorUserId: string | null;
  sealed: Buffer;
  createdAt: Date;
  deliveredAt: Date | null;
  deliveredToIntegrationId: string | null;
}

/**
 * The outer join distinguishes a page without comments, which is one row of nulls, from a missing
 * conversation, which is no row. `bytes_before` counts the comments before the preceding one, so that the
 * page ends with the second comment after `$7` bytes. Their lengths are known without reading them.
 */
const selectComments = defineStatement<CommentRow | { [Name in keyof CommentRow]: null }>(
  'conversation_comments',
  `SELECT conversation.retailer_id AS "retailerId", page.*
  FROM conversations AS conversation
  LEFT JOIN LATERAL (
    SELECT id, seq, side, integration_id AS "integrationId", author_user_id AS "authorUserId", sealed,
      created_at AS "createdAt", delivered_at AS "deliveredAt",
      delivered_to_integration_id AS "deliveredToIntegrationId"
    FROM (
      SELECT *, sum(octet_length(sealed)) OVER (
        ORDER BY seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS bytes_before
      FROM (
        SELECT * FROM comments
        WHERE application_id = conversation.application_id
          AND creditor_id = conversation.creditor_id AND seq < $5::bigint
        ORDER BY seq DESC LIMIT $6
      ) AS newest
    ) AS counted
    WHERE coalesce(bytes_before, 0) < $7::bigint
  ) AS page ON true
  WHERE conversation.application_id = $1::uuid AND conversation.creditor_id = $2::uuid
    AND (conversation.creditor_id = $3::uuid OR conversation.retailer_id = $4::uuid)
  ORDER BY page.seq DESC`,
);

/**
 * At most `limit` comments of a conversation with a sequence under `before`, newest first; fewer where they
 * have more text than a page. Undefined where the scope has no such conversation with a comment.
 */
export async function findComments(
  db: Queryable,
  { applicationId, creditorId }: SubmissionKey,
  scope: Scope,
  { before, limit }: { before: number; limit: number },
): Promise<CommentRow[] | undefined> {
  const ids = [applicationId, creditorId, scope.creditorId, scope.retailerId];
  const rows = await selectComments.run(db, [...ids, before, limit, MAX_PAGE_BYTES]);
  return rows.length === 0 ? undefined : rows.filter((row): row is CommentRow => row.id !== null);
}

interface DeliveryRow {
  id: string;
  deliveredAt: Date;
  deliveredToIntegrationId: string;
}

/**
 * Of two readers at the same time, the second waits for the row locks of the first and then keeps the
 * first delivery, because `coalesce` reads the newest version of a locked row. The rows are locked in the
 * order of their ids, so that the readers cannot deadlock.
 */
const updateDelivered = defineStatement<DeliveryRow>(
  'comments_deliver',
  `UPDATE comments SET
    delivered_at = coalesce(delivered_at, $2::timestamptz),
    delivered_to_integration_id = coalesce(delivered_to_integration_id, $3::uuid)
  WHERE id IN (SELECT id FROM comments WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE)
  RETURNING id, delivered_at AS "deliveredAt", delivered_to_integration_id AS "deliveredToIntegrationId"`,
);

/**
 * Marks comments as delivered, except those that are delivered already, and resolves to the delivery of
 * each.
 */
export function markDelivered(
  db: Queryable,
  commentIds: readonly string[],
  { at, integrationId }: { at: Date; integrationId: string },
): Promise<DeliveryRow[]> {
  return updateDelivered.run(db, [commentIds, at, integrationId]);
}
