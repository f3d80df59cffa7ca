/** Lists the users of a retailer, page by page. */
import type { Queryable } from '@creditlane/postgres/statement';
import { idAfter, type ListKey } from '@creditlane/rpc/lists/list-cursor';
import { type Page, pageOf } from '@creditlane/rpc/lists/list-page';
import { retailerNotFound } from '../scope.ts';
import { findUsers } from '../store/users.ts';
import type { UserRow } from '../tables.ts';

/**
 * A page of the users who belong to a retailer or to its group, in the order of their ids: names change,
 * and a user whose name changes while the pages are read would be on two of them or on none. A user may
 * also belong to retailers of other tenants; only this retailer and its group are shown.
 *
 * @throws Fault `retailer_not_found` or `invalid_cursor`
 */
export async function listUsers(
  db: Queryable,
  { retailerId, active }: { retailerId: string; active: boolean | undefined },
  { limit, cursor }: { limit: number; cursor: string },
): Promise<Page<UserRow>> {
  const list: ListKey = ['users', retailerId, active];
  const after = idAfter(cursor, list);
  const found = await findUsers(db, { retailerId, active, after, limit: limit + 1 });
  if (found === undefined) throw retailerNotFound();
  return pageOf(list, found, limit, ({ id }) => [id]);
}
