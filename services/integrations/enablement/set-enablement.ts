/** Changes the enablement of the calling integration for a creditor, and reads it. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { SealedAnswers } from '@creditlane/idempotency/sealed-answers';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { ScopedPool } from '@creditlane/postgres/row-security/scoped-pool';
import type { Queryable } from '@creditlane/postgres/statement';
import {
  EnablementStatus,
  type GetIntegrationEnablementResponseSchema,
  SetIntegrationStatusResponseSchema,
} from '@creditlane/proto/integrations/v1/enablement_service';
import type { Call } from '@creditlane/rpc/call';
import { type Fault, notFound } from '@creditlane/rpc/fault';
import type { Clock } from '@creditlane/runtime/clock';
import { findEnablement, lockEnablement, updateEnablement } from '../store/enablements.ts';
import { changeEnablement, checkReason, type EnablementChange } from './enablement.ts';

export interface SetEnablementDeps {
  requests: RequestPool;
  answers: SealedAnswers;
  clock: Clock;
}

/**
 * Changes the status in the row of the grant, whose lock makes changes follow each other. The grant must
 * not be revoked, and may be disabled: otherwise a disabled integration could never be enabled again.
 *
 * @throws Fault `invalid_reason`, `creditor_not_found`, `integration_not_requested`, or a fault of the idempotency key
 */
export async function setEnablement(
  { requests, answers, clock }: SetEnablementDeps,
  creditorId: string,
  change: EnablementChange,
  call: Call,
): Promise<{ status: EnablementStatus }> {
  checkReason(change.reason ?? '');
  const integrationId = grantedIntegration(creditorId, call);
  const answer = { status: EnablementStatus[change.status] };
  const write = async (tx: Queryable): Promise<void> => {
    const current = await lockEnablement(tx, integrationId, creditorId);
    if (current === undefined) throw creditorNotFound();
    const next = changeEnablement(current, change, clock());
    await updateEnablement(tx, integrationId, creditorId, next);
  };
  // The three answers have the same fields.
  const schema = SetIntegrationStatusResponseSchema;
  const { status } = await answers.storeThenWrite(
    ownRecords(requests, call).onRow(integrationId),
    call,
    schema,
    answer,
    write,
  );
  return { status };
}

/** @throws Fault `creditor_not_found` */
export async function getEnablement(
  { requests }: Pick<SetEnablementDeps, 'requests'>,
  creditorId: string,
  call: Call,
): Promise<MessageInitShape<typeof GetIntegrationEnablementResponseSchema>> {
  const integrationId = grantedIntegration(creditorId, call);
  const found = await findEnablement(ownRecords(requests, call), integrationId, creditorId);
  if (found === undefined) throw creditorNotFound();
  const { status, reason = '', setAt } = found;
  return {
    status: EnablementStatus[status ?? 'UNSPECIFIED'],
    reason,
    ...(setAt && { setAt: timestampFromDate(setAt) }),
  };
}

/** The calling integration, if the gateway found its grant on the creditor. The row of the grant decides. */
function grantedIntegration(creditorId: string, { identity }: Call): string {
  if (identity.creditorId !== creditorId) throw creditorNotFound();
  return identity.subject;
}

/** For the records of the calling integration. */
function ownRecords(requests: RequestPool, call: Call): ScopedPool {
  return requests.of(call, { integrations: [call.identity.subject] });
}

function creditorNotFound(): Fault {
  return notFound('creditor_not_found', 'There is no such creditor.');
}
