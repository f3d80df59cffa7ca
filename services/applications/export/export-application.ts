/** Exports an application: seals what it holds now, with the event that makes the webhook. */

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { readKeyId } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { storeAnswer } from '@creditlane/idempotency/stored-answers';
import { appendToOutbox } from '@creditlane/messaging/outbox';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Application } from '@creditlane/proto/applications/v1/application';
import {
  type ExportApplicationRequest,
  type ExportApplicationResponse,
  ExportApplicationResponseSchema,
} from '@creditlane/proto/applications/v1/applications_service';
import type { Call } from '@creditlane/rpc/call';
import { conflict, notFound } from '@creditlane/rpc/fault';
import type { Clock } from '@creditlane/runtime/clock';
import { applicantErased } from '../applicant/erase-applicant.ts';
import { applicationExported } from '../events.ts';
import { applicationNotFound, retailerOf } from '../scope.ts';
import { findDataKeys } from '../store/applicant-data-keys.ts';
import { findApplication } from '../store/applications.ts';
import { insertExport } from '../store/exports.ts';
import { changeOnce } from '../stored-application.ts';
import { exportPayload } from './payload.ts';
import { sealPayload } from './sealed-payload.ts';

export interface ExportApplicationDeps {
  requests: RequestPool;
  /** Opens the sealed applicants, and seals the payload. */
  keyRing: KeyRing;
  clock: Clock;
  newId: () => string;
  /** Makes the relay publish the event without waiting for its next poll. */
  wakeRelay(): void;
}

/**
 * Exports an application with its submission to one creditor, with an event that holds ids only. A request
 * repeated with its idempotency key writes nothing and gets the first answer.
 *
 * @param request with its ids in lower case; the caller has checked that its integration is a recipient
 * @throws Fault `application_not_found`, `submission_not_found`, `application_archived` or `applicant_erased`
 */
export async function exportApplication(
  deps: ExportApplicationDeps,
  request: ExportApplicationRequest,
  call: Call,
): Promise<ExportApplicationResponse> {
  const { requests, keyRing } = deps;
  const { applicationId, creditorId, integrationId } = request;
  const { idempotency } = call;
  const retailerId = retailerOf(call.identity);
  const db = requests.of(call);

  // Read before the transaction, which must not wait for a second connection of the pool. What is exported
  // never changes, except that submissions to other creditors are added, and that an applicant is erased.
  const application = await findApplication(db, keyRing, applicationId, retailerId);
  if (!application) throw applicationNotFound();
  const payload = exportPayload(application, creditorId, worksheetFor(application, creditorId));

  const target = { applicationId, retailerId };
  const outcome = await changeOnce(db, idempotency, target, async (tx, { archived }) => {
    const [exportId, exportedAt] = [deps.newId(), deps.clock()];
    const exported = { exportId, applicationId, creditorId, integrationId, exportedAt };
    const answer = toBinary(
      ExportApplicationResponseSchema,
      create(ExportApplicationResponseSchema, {
        ...exported,
        exportedAt: timestampFromDate(exportedAt),
      }),
    );
    // The answer is stored before the rule is checked, so that a duplicate request gets the stored answer
    // even if the application was archived after the first.
    if (idempotency) await storeAnswer(tx, idempotency, answer);
    if (archived) throw conflict('application_archived', 'The application is archived.');
    const dataKeys = await findDataKeys(tx, keyRing, applicationId, retailerId);
    if (dataKeys === 'destroyed') throw applicantErased();
    const sealed = sealPayload(keyRing, dataKeys, payload, exportId, retailerId);
    await insertExport(tx, {
      ...exported,
      exportedBy: call.identity.subject,
      sealed,
      sealedWith: dataKeys === undefined ? readKeyId(sealed) : null,
    });
    await appendToOutbox(tx, [applicationExported(exported, retailerId, call.traceparent)]);
    return answer;
  });
  if (outcome.replayed) call.markReplayed();
  deps.wakeRelay();
  return fromBinary(ExportApplicationResponseSchema, outcome.answer);
}

function worksheetFor({ submissions }: Application, creditorId: string) {
  const submission = submissions.find((it) => it.creditorId === creditorId);
  if (!submission?.worksheet) {
    throw notFound('submission_not_found', 'The application was not submitted to this creditor.');
  }
  return submission.worksheet;
}
