/** The records of the service itself about a pull, which it appends to the audit log. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Queryable } from '@creditlane/postgres/statement';
import type { Clock } from '@creditlane/runtime/clock';
import { appendAuditRecord } from '../audit/audit-log.ts';
import type { AuditRecord } from '../audit/audit-record.ts';
import type { PullRow } from './pull.ts';

export interface PullAuditDeps {
  keyRing: KeyRing;
  clock: Clock;
}

/** Appends an act of the service itself on the pull, in the transaction of the change. */
export function appendPullRecord(
  { keyRing, clock }: PullAuditDeps,
  tx: Queryable,
  { id: pullId, ...pull }: PullRow,
  act: Pick<AuditRecord, 'action' | 'fileId' | 'outcome'>,
): Promise<void> {
  const { retailerId, applicationId, applicantId, source, requestId, consent } = pull;
  return appendAuditRecord(tx, keyRing, {
    ...{ retailerId, applicationId, applicantId, pullId, source, requestId, ...act },
    at: clock(),
    actor: { kind: 'service', id: 'credit-file' },
    purpose: consent.purpose,
    consentId: consent.consentId,
  });
}
