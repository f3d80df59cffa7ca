/** Lists the grants of an integration, page by page. */
import type { Queryable } from '@creditlane/postgres/statement';
import { idAfter, type ListKey } from '@creditlane/rpc/lists/list-cursor';
import { type Page, pageOf } from '@creditlane/rpc/lists/list-page';
import { findGrants, type Grant, type GrantSide } from '../store/grants.ts';

/**
 * A page of the active grants on one side, in the order of the retailers' or creditors' ids. Throws the
 * Fault `invalid_cursor`.
 */
export async function listGrants(
  db: Queryable,
  { integrationId, side }: { integrationId: string; side: GrantSide },
  { limit, cursor }: { limit: number; cursor: string },
): Promise<Page<Grant>> {
  const list: ListKey = ['grants', integrationId, side];
  const after = idAfter(cursor, list);
  const found = await findGrants(db, side, { integrationId, after, limit: limit + 1 });
  return pageOf(list, found, limit, ({ id }) => [id]);
}
