/** Lists the applications of a retailer, newest first, page by page. */
import type { Queryable } from '@creditlane/postgres/statement';
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { type ListKey, newestBefore } from '@creditlane/rpc/lists/list-cursor';
import { type Page, pageOf } from '@creditlane/rpc/lists/list-page';
import { retailerNotFound } from '../scope.ts';
import {
  type ApplicationSummary,
  findApplicationSummaries,
} from '../store/application-summaries.ts';

export interface ApplicationFilter {
  retailerId: string;
  /** UNSPECIFIED: any. */
  status: ApplicationStatus;
  /** Empty: any, or none. */
  referenceNumber: string;
}

/**
 * A page of a retailer's applications. The time and the id of an application never change, so every
 * application that exists when the first page is read is on exactly one page, however many are created
 * while the others are read. An application whose status changes meanwhile may enter or leave a list that
 * is filtered by status.
 *
 * @throws Fault `retailer_not_found` or `invalid_cursor`
 */
export async function listApplications(
  db: Queryable,
  filter: ApplicationFilter,
  { limit, cursor }: { limit: number; cursor: string },
): Promise<Page<ApplicationSummary>> {
  const { retailerId, referenceNumber } = filter;
  const status = filter.status === 0 ? undefined : ApplicationStatus[filter.status];
  const list: ListKey = ['applications', retailerId, status, referenceNumber];
  const found = await findApplicationSummaries(db, {
    retailerId,
    status,
    referenceNumber,
    before: newestBefore(cursor, list),
    limit: limit + 1,
  });
  if (found === undefined) throw retailerNotFound();
  return pageOf(list, found, limit, (it) => [it.createdAtMicros, it.applicationId]);
}
