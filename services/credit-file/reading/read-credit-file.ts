/** Reads the last requested pull of an applicant with its file, and waits for a running pull if asked to. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { ConsentsService } from '@creditlane/proto/applications/v1/consents_service';
import { notFound } from '@creditlane/rpc/fault';
import type { PeerClient } from '@creditlane/rpc/peer-client';
import type { Clock } from '@creditlane/runtime/clock';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import type { Keys } from '@creditlane/runtime/setting';
import { appendAuditRecord } from '../audit/audit-log.ts';
import { callerFacts, fileFacts, pullFacts } from '../audit/audit-record.ts';
import { openCreditFile } from '../custody/credit-file-keys.ts';
import { documentPath, endOfLink } from '../document/document-link.ts';
import { requireApplicant } from '../inquiry/inquiry-subject.ts';
import { isFinished, type PullRow } from '../pulls/pull.ts';
import type { ApplicantCall } from '../scope.ts';
import { findLatestFile, type StoredFile } from '../store/credit-files.ts';
import { insertLink } from '../store/document-links.ts';
import { findLatestPull } from '../store/pulls.ts';
import { maskFile } from './mask-file.ts';
import type { PullWaits } from './pull-waits.ts';

export interface ReadCreditFileDeps {
  requests: RequestPool;
  consents: PeerClient<typeof ConsentsService>;
  /** Opens the sealed files, and seals the head of the audit log. */
  keyRing: KeyRing;
  /** Signs the links to PDFs. */
  documentLinkKeys: Renewed<Keys>;
  pullWaits: PullWaits;
  /** As `callerFacts` takes it. */
  recordsRetailerContext: boolean;
  clock: Clock;
}

/** The permission without which the social insurance number is masked. */
const READ_SIN = 'READ_SIN';
/** Ends the wait before the call's deadline, which the answer must meet. */
const ANSWER_MS = 500;

export interface ReadFile {
  pull: PullRow;
  /** Empty while the pull is running, and without a file. */
  fileJson: string;
  documentPath: string;
  hasWaited: boolean;
}

export interface ReadOptions {
  waitMs: number;
  unmasked: boolean;
  /** Whether the caller reads again after a wait: an answer that has waited has no file then. */
  readsAfterWait: boolean;
}

/**
 * The last requested pull decides what is read: while it is running, no file; after one without a file, that of the
 * pull requested before it, of either source.
 * @throws Fault `applicant_not_found` or `credit_file_not_requested`
 */
export async function readCreditFile(
  deps: ReadCreditFileDeps,
  applicantCall: ApplicantCall,
  { waitMs, unmasked, readsAfterWait }: ReadOptions,
): Promise<ReadFile> {
  const { applicant, retailerId, call } = applicantCall;
  const db = deps.requests.of(call);
  let pull = await findLatestPull(db, applicant, retailerId);
  if (pull !== undefined && !isFinished(pull) && waitMs > 0) {
    const timeoutMs = Math.min(waitMs, call.deadlineMs - Date.now() - ANSWER_MS);
    const { subject: callerId } = call.identity;
    await deps.pullWaits.wait(pull.id, { callerId, timeoutMs, signal: call.signal });
    pull = await findLatestPull(db, applicant, retailerId);
    if (pull !== undefined && readsAfterWait) return { ...withoutFile(pull), hasWaited: true };
  }
  if (pull === undefined) {
    await requireApplicant(deps.consents, applicantCall);
    throw notFound('credit_file_not_requested', 'No credit file of the applicant was requested.');
  }
  const stored = isFinished(pull)
    ? await findLatestFile(db, applicant.applicantId, retailerId)
    : undefined;
  const file = stored && (await openCreditFile(db, deps.keyRing, stored));
  const at = deps.clock();
  await recordRead(deps, applicantCall, pull, file, at);
  if (file === undefined) return withoutFile(pull);
  const mayReadSin = unmasked && call.identity.permissions.includes(READ_SIN);
  return {
    pull,
    fileJson: mayReadSin ? file.text : JSON.stringify(maskFile(JSON.parse(file.text))),
    documentPath: documentPath(deps.documentLinkKeys(), file.id, endOfLink(at)),
    hasWaited: false,
  };
}

function withoutFile(pull: PullRow): ReadFile {
  return { pull, fileJson: '', documentPath: '', hasWaited: false };
}

/**
 * Records the read, and who is given the link, before the answer: without a record nothing is read. A record with a file
 * names the file's own pull and consent, also where the outcome is that of a later pull which gave no file.
 */
async function recordRead(
  deps: ReadCreditFileDeps,
  { retailerId, call }: ApplicantCall,
  pull: PullRow,
  file: StoredFile | undefined,
  at: Date,
): Promise<void> {
  const { subject: integrationId, retailerContext } = call.identity;
  // Each record waits for the head of the retailer's chain.
  await inTransaction(deps.requests.of(call).onRow(retailerId), async (tx) => {
    if (file !== undefined) {
      const link = { ...file, fileId: file.id, expiresAt: endOfLink(at) };
      await insertLink(tx, link, { integrationId, retailerContext });
    }
    await appendAuditRecord(tx, deps.keyRing, {
      ...(file ? fileFacts(file) : pullFacts(pull)),
      action: 'FILE_READ',
      at,
      ...callerFacts(call, deps),
      outcome: pull.state,
    });
  });
}
