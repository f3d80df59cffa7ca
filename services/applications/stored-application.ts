/** The stored answer of a request that created or submitted an application. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { type Application, ApplicationSchema } from '@creditlane/proto/applications/v1/application';
import { applicationNotFound } from './scope.ts';
import { findApplication } from './store/applications.ts';

/**
 * The answer as it is stored: the application's id, status and creditors. Applicants are left out, so
 * that the sealed applicants remain their only copy.
 */
export function encodeStoredAnswer(
  { applicationId, status }: Pick<Application, 'applicationId' | 'status'>,
  creditorIds: readonly string[] = [],
): Uint8Array {
  const submissions = creditorIds.map((creditorId) => ({ creditorId }));
  return toBinary(
    ApplicationSchema,
    create(ApplicationSchema, { applicationId, status, submissions }),
  );
}

/**
 * Loads the application of a stored answer, with the status and the submissions that it had when the
 * answer was stored. Throws the fault `application_not_found` for another retailer's application.
 */
export async function loadStoredAnswer(
  { database, keyRing }: { database: Database; keyRing: KeyRing },
  retailerId: string,
  storedAnswer: Uint8Array,
): Promise<Application> {
  const { applicationId, status, submissions } = fromBinary(ApplicationSchema, storedAnswer);
  const application = await findApplication(database, keyRing, applicationId, retailerId);
  if (!application) throw applicationNotFound();
  const creditorIds = new Set(submissions.map(({ creditorId }) => creditorId));
  return create(ApplicationSchema, {
    ...application,
    status,
    submissions: application.submissions.filter(({ creditorId }) => creditorIds.has(creditorId)),
  });
}
