/** What the audit log records, and the hash that chains its records. */
import { createHash } from 'node:crypto';
import type { Call } from '@creditlane/rpc/call';
import type { Identity } from '@creditlane/rpc/identity';
import type { PullRow } from '../pulls/pull.ts';
import type { StoredFile } from '../store/credit-files.ts';

export type AuditAction =
  | 'PULL_REQUESTED'
  /** A request got a pull that was there: the same request id, one still running, or a recent file. */
  | 'PULL_JOINED'
  /** A request was refused; the outcome is the code of the error. */
  | 'PULL_REFUSED'
  /** The inquiry is about to be sent to the bureau. */
  | 'PULL_SENT'
  /** The inquiry of the last PULL_SENT was certainly never sent; the outcome is the reason. */
  | 'PULL_NOT_SENT'
  /** The outcome is COMPLETE, UNKNOWN, or the reason of a failure. */
  | 'PULL_FINISHED'
  | 'FILE_READ'
  /** A link to the PDF was opened, for the first time in a minute. */
  | 'DOCUMENT_READ'
  /** The same link was opened again in that minute; the outcome is how often, the time that of the last opening. */
  | 'DOCUMENT_READ_AGAIN'
  | 'CREDENTIALS_SET'
  | 'CREDENTIALS_REMOVED'
  /** The data key was destroyed. */
  | 'APPLICANT_ERASED'
  /** The applications service has erased the personal data. */
  | 'APPLICANT_DATA_ERASED'
  | 'FILE_PURGED';

/** Who did it: an integration, a key of the platform's administration, or a service by itself. */
export interface AuditActor {
  kind: Identity['kind'] | 'operator';
  id: string;
}

/**
 * One act, named by ids, in lower case where they are UUIDs. A record outlives the applicant's data, so it holds no
 * personal data; the interface asks callers to put none into their X-Request-Id, the one text here that they choose.
 */
export interface AuditRecord {
  action: AuditAction;
  at: Date;
  retailerId: string;
  actor: AuditActor;
  /** The retailer for which the actor acted, where the applicant belongs to another retailer of the group. */
  retailerContext?: string | null | undefined;
  /** The X-Request-Id of the request that caused it. */
  requestId?: string | null | undefined;
  /** The purpose of the consent, such as CREDIT_APPLICATION. */
  purpose?: string | null | undefined;
  applicationId?: string | null | undefined;
  applicantId?: string | null | undefined;
  pullId?: string | null | undefined;
  fileId?: string | null | undefined;
  consentId?: string | null | undefined;
  source?: string | null | undefined;
  /** A stable word, such as COMPLETE or consent_missing. */
  outcome?: string | null | undefined;
}

/** What a record about a pull says of it. */
export function pullFacts({
  id,
  retailerId,
  applicationId,
  applicantId,
  source,
  consent,
}: PullRow) {
  const { purpose, consentId } = consent;
  return { pullId: id, retailerId, applicationId, applicantId, source, purpose, consentId };
}

/** What a record about a file says of it and of its pull. */
export function fileFacts({ id, pullId, retailerId, ...file }: StoredFile) {
  const { applicationId, applicantId, source, purpose, consentId } = file;
  const ofFile = { fileId: id, pullId, retailerId };
  return { ...ofFile, applicationId, applicantId, source, purpose, consentId };
}

/** The service itself, in what it does without a call. */
export const THE_SERVICE: AuditActor = { kind: 'service', id: 'credit-file' };

/** The actor of a call. */
export function actorOf({ kind, subject }: Identity): AuditActor {
  return { kind, id: subject };
}

/**
 * Who made a call, and for which retailer. `recordsRetailerContext` is false while replicas of a version may run that
 * cannot verify a record with a context.
 */
export function callerFacts(
  { identity, requestId }: Pick<Call, 'identity' | 'requestId'>,
  { recordsRetailerContext }: { recordsRetailerContext: boolean },
) {
  return {
    actor: actorOf(identity),
    requestId,
    ...(recordsRetailerContext && { retailerContext: identity.retailerContext }),
  };
}

/** The hash before the first record of a chain. */
export const NO_HASH: Buffer = Buffer.alloc(32);

/** SHA-256 of the hash of the previous record and of the record's canonical content. */
export function hashOf(previous: Uint8Array, seq: number, record: AuditRecord): Buffer {
  return createHash('sha256').update(previous).update(canonicalContent(seq, record)).digest();
}

/**
 * The record as JSON text of an array: values in a fixed order, null where there is none, times in UTC with
 * milliseconds. It is never changed; a field that is added needs another version, which the first value names. Version 2
 * is that of records with a retailer context, which follows the retailer.
 */
export function canonicalContent(seq: number, record: AuditRecord): string {
  const { retailerContext } = record;
  return JSON.stringify([
    ...(retailerContext == null
      ? ['audit record 1', record.retailerId]
      : ['audit record 2', record.retailerId, retailerContext]),
    seq,
    record.at.toISOString(),
    record.action,
    record.actor.kind,
    record.actor.id,
    record.requestId ?? null,
    record.purpose ?? null,
    record.applicationId ?? null,
    record.applicantId ?? null,
    record.pullId ?? null,
    record.fileId ?? null,
    record.consentId ?? null,
    record.source ?? null,
    record.outcome ?? null,
  ]);
}
