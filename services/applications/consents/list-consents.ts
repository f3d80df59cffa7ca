/** Lists the consents of an applicant, newest first, page by page. */
import type { Queryable } from '@creditlane/postgres/statement';
import type { StoredConsent } from '@creditlane/proto/applications/v1/consents_service';
import { type ListKey, newestBefore } from '@creditlane/rpc/lists/list-cursor';
import { type Page, pageOf } from '@creditlane/rpc/lists/list-page';
import { type ApplicantKey, findConsents } from '../store/consents.ts';
import { applicantNotFound } from './consent.ts';

/**
 * A page of an applicant's consents, in the order of their capture, which never changes.
 *
 * @throws Fault `applicant_not_found` or `invalid_cursor`
 */
export async function listConsents(
  db: Queryable,
  applicant: ApplicantKey,
  { limit, cursor }: { limit: number; cursor: string },
): Promise<Page<StoredConsent>> {
  const { retailerId, applicationId, applicantId } = applicant;
  const list: ListKey = ['consents', retailerId, applicationId, applicantId];
  const found = await findConsents(db, applicant, newestBefore(cursor, list), limit + 1);
  if (found === undefined) throw applicantNotFound();
  const position = ({ capturedAtMicros, consent }: (typeof found)[number]) => [
    capturedAtMicros,
    consent.id,
  ];
  return pageOf(list, found, limit, position, ({ consent }) => consent);
}
