/** Exports an application: seals what it holds now, with the event that makes the webhook. */

import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { appendToOutbox } from '@creditlane/messaging/outbox';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Application } from '@creditlane/proto/applications/v1/application';
import {
  type ExportApplicationRequest,
  ExportApplicationRequestSchema,
  type ExportApplicationResponse,
  ExportApplicationResponseSchema,
} from '@creditlane/proto/applications/v1/applications_service';
import { type Call, requestDigestOf } from '@creditlane/rpc/call';
import { fieldFault, notFound } from '@creditlane/rpc/fault';
import { applicationNotFound } from '@creditlane/rpc/submission';
import type { Clock } from '@creditlane/runtime/clock';
import { changeApplication } from '../change-application.ts';
import { applicationExported } from '../events.ts';
import { applicantErased, applicationArchived } from '../faults.ts';
import { retailerOf } from '../scope.ts';
import { findDataKeys } from '../store/applicant-data-keys.ts';
import { findApplication } from '../store/applications.ts';
import { insertExport } from '../store/exports.ts';
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
 * @throws Fault `application_not_found`, `submission_not_found`, `integration_not_found`, `application_archived` or
 *   `applicant_erased`
 */
export async function exportApplication(
  deps: ExportApplicationDeps,
  request: ExportApplicationRequest,
  call: Call,
): Promise<ExportApplicationResponse> {
  const { requests, keyRing } = deps;
  const { applicationId, creditorId, integrationId } = request;
  // Whether there is a recipient may have changed since the first request.
  const asFirst = { ...request, lacksRecipient: false };
  const requestDigest = requestDigestOf(ExportApplicationRequestSchema, asFirst);
  const idempotency = call.idempotency && { ...call.idempotency, requestDigest };
  const retailerId = retailerOf(call.identity);
  const db = requests.of(call);

  // Read before the transaction, which must not wait for a second connection of the pool. What is exported
  // never changes, except that submissions to other creditors are added, and that an applicant is erased.
  const application = await findApplication(db, keyRing, applicationId, retailerId);
  if (!application) throw applicationNotFound();
  const payload = exportPayload(application, creditorId, worksheetFor(application, creditorId));

  const target = { applicationId, retailerId };
  const keyed = { ...call, idempotency };
  const schema = ExportApplicationResponseSchema;
  const answer = await changeApplication(db, keyed, schema, target, async (tx, locked, store) => {
    const [exportId, exportedAt] = [deps.newId(), deps.clock()];
    const exported = { exportId, applicationId, creditorId, integrationId, exportedAt };
    const answer = create(schema, { ...exported, exportedAt: timestampFromDate(exportedAt) });
    // The answer is stored before the rules are checked, so that a duplicate request gets the stored answer even if the
    // application was archived, or the recipient was lost, after the first.
    await store(tx, answer);
    if (request.lacksRecipient) throw integrationNotFound();
    if (locked.archived) throw applicationArchived();
    const dataKeys = await findDataKeys(tx, keyRing, applicationId, retailerId);
    if (dataKeys === 'destroyed') throw applicantErased();
    const sealed = sealPayload(keyRing, dataKeys, payload, exportId, retailerId);
    await insertExport(tx, { ...exported, exportedBy: call.identity.subject, ...sealed });
    await appendToOutbox(tx, [applicationExported(exported, retailerId, call.traceparent)]);
    return answer;
  });
  deps.wakeRelay();
  return answer;
}

/** The same whether the integration exists or not. */
function integrationNotFound() {
  const pointer = '/integrationId';
  const message =
    'names no integration with a webhook destination that gets applicationExported, and with a grant on ' +
    "the application's retailer or on the creditor";
  return fieldFault('not_found', 'integration_not_found', { pointer, message });
}

function worksheetFor({ submissions }: Application, creditorId: string) {
  const submission = submissions.find((it) => it.creditorId === creditorId);
  if (!submission?.worksheet) {
    throw notFound('submission_not_found', 'The application was not submitted to this creditor.');
  }
  return submission.worksheet;
}
