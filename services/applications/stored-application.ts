/** The stored answers of requests that create or submit an application: what is stored, and what it stands for. */
import { create } from '@bufbuild/protobuf';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Queryable } from '@creditlane/postgres/statement';
import { type Application, ApplicationSchema } from '@creditlane/proto/applications/v1/application';
import { applicationNotFound } from '@creditlane/rpc/submission';
import { findApplication } from './store/applications.ts';

/**
 * The answer as it is stored: the application's id, status and creditors. Applicants are left out, so
 * that the sealed applicants remain their only copy.
 */
export function answerToStore(
  { applicationId, status }: Pick<Application, 'applicationId' | 'status'>,
  creditorIds: readonly string[] = [],
): Application {
  const submissions = creditorIds.map((creditorId) => ({ creditorId }));
  return create(ApplicationSchema, { applicationId, status, submissions });
}

/**
 * Loads the application of a stored answer, with the status and the submissions that it had when the
 * answer was stored. Throws the fault `application_not_found` for another retailer's application.
 */
export async function loadStoredAnswer(
  db: Queryable,
  keyRing: KeyRing,
  retailerId: string,
  { applicationId, status, submissions }: Application,
): Promise<Application> {
  const application = await findApplication(db, keyRing, applicationId, retailerId);
  if (!application) throw applicationNotFound();
  const creditorIds = new Set(submissions.map(({ creditorId }) => creditorId));
  return create(ApplicationSchema, {
    ...application,
    status,
    submissions: application.submissions.filter(({ creditorId }) => creditorIds.has(creditorId)),
  });
}
