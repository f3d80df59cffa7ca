/** Archives an application: sets its status once, and answers a repetition. */
import { create } from '@bufbuild/protobuf';
import { EmptySchema } from '@bufbuild/protobuf/wkt';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import { type Application, ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import type { Call } from '@creditlane/rpc/call';
import { applicationNotFound } from '@creditlane/rpc/submission';
import { changeApplication } from './change-application.ts';
import { retailerOf } from './scope.ts';
import { findApplication, setApplicationStatus } from './store/applications.ts';

/** An archived application never changes again, so a repeated request gets the application as it is. */
const STORED_ANSWER = create(EmptySchema);

export interface ArchiveApplicationDeps {
  requests: RequestPool;
  /** Opens the sealed applicants of the answer. */
  keyRing: KeyRing;
}

/**
 * Archives an application of any status; one that is archived already stays as it is. No event reports it:
 * no other service keeps the status, and those that need it ask for it.
 *
 * @throws Fault `application_not_found`, or a fault of the idempotency key
 */
export async function archiveApplication(
  { requests, keyRing }: ArchiveApplicationDeps,
  applicationId: string,
  call: Call,
): Promise<Application> {
  const db = requests.of(call);
  const retailerId = retailerOf(call.identity);
  const target = { applicationId, retailerId };
  await changeApplication(db, call, EmptySchema, target, async (tx, { archived }, store) => {
    await store(tx, STORED_ANSWER);
    if (!archived) await setApplicationStatus(tx, applicationId, ApplicationStatus.ARCHIVED);
    return STORED_ANSWER;
  });
  const application = await findApplication(db, keyRing, applicationId, retailerId);
  if (!application) throw applicationNotFound();
  return application;
}
