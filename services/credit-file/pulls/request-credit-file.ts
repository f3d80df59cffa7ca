/** Requests a pull: checks that it is permitted, and finds or inserts the pull in one transaction. */
import { create } from '@bufbuild/protobuf';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { answerCall } from '@creditlane/idempotency/answer-call';
import { markInProgress } from '@creditlane/idempotency/duplicate-requests';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Applicant } from '@creditlane/proto/applications/v1/application';
import type {
  ConsentsService,
  StoredConsent,
} from '@creditlane/proto/applications/v1/consents_service';
import {
  type RequestCreditFileResponse,
  RequestCreditFileResponseSchema,
} from '@creditlane/proto/creditfile/v1/credit_file_service';
import { conflict, Fault, invalid } from '@creditlane/rpc/fault';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import type { PeerClient } from '@creditlane/rpc/peer-client';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { appendAuditRecord } from '../audit/audit-log.ts';
import { type AuditAction, type AuditRecord, callerFacts } from '../audit/audit-record.ts';
import type { Source } from '../bureaus/bureau.ts';
import { ensureApplicantKey } from '../custody/credit-file-keys.ts';
import { requireInquiry } from '../inquiry/inquiry-requirements.ts';
import { findInquirySubject, PURPOSE } from '../inquiry/inquiry-subject.ts';
import { type ApplicantCall, applicantNotFound } from '../scope.ts';
import { isErased } from '../store/applicant-erasures.ts';
import { hasBureauCredentials } from '../store/bureau-credentials.ts';
import {
  findEarlierPulls,
  insertJoinedRequest,
  insertPull,
  lockPullsOf,
  markLastRequested,
} from '../store/pulls.ts';
import { type ForcedPullDeps, insertForced } from './forced-pulls.ts';
import { consentOf, findPullFor, type PullRow, pullMessage } from './pull.ts';

export interface RequestCreditFileDeps extends ForcedPullDeps {
  requests: RequestPool;
  consents: PeerClient<typeof ConsentsService>;
  /** Seals the keys of applicants and the head of the audit log. */
  keyRing: KeyRing;
  /** Throws the fault `bureau_not_configured` for a bureau that the platform cannot ask. */
  requireConfigured: (source: Source) => void;
  /** As `callerFacts` takes it. */
  recordsRetailerContext: boolean;
  /** How long a file is not pulled again. */
  minAgeMs: number;
  newId: () => string;
  log: Log;
  /** Is called after the commit of a new pull. */
  onRequested: () => void;
}

export interface CreditFileRequest {
  source: Source;
  /** The caller's own id of the request; empty without one. */
  callerRequestId: string;
  force: boolean;
}

/** An applicant with the consent that permits a pull. */
interface Permitted {
  person: Applicant;
  consent: StoredConsent;
}

/**
 * The pull that answers the request; `findPullFor` has the rules. A request with the request id of an earlier
 * one gets that pull, whether or not a new pull would be permitted, unless the applicant was erased.
 *
 * @throws Fault `applicant_not_found`, `consent_missing`, `applicant_incomplete`, `application_archived`,
 *   `applicant_erased`, `bureau_not_configured`, `bureau_credentials_missing`, `force_pull_limit`
 */
export async function requestCreditFile(
  deps: RequestCreditFileDeps,
  applicantCall: ApplicantCall,
  request: CreditFileRequest,
): Promise<RequestCreditFileResponse> {
  const { applicant, retailerId, call } = applicantCall;
  const faults = new FieldFaults();
  faults.checkPrintable('/requestId', request.callerRequestId);
  faults.throwIfAny('invalid_request');
  const db = deps.requests.of(call);
  return answerCall(db, call, RequestCreditFileResponseSchema, async (store) => {
    const repeated = await findRepeated(db, applicantCall, request);
    // Before the transaction: no connection waits for another service.
    const permitted =
      repeated === undefined ? await requireConsent(deps, applicantCall) : undefined;
    const response = await inTransaction(db.onRow(retailerId), async (tx) => {
      await markInProgress(tx, call.idempotency);
      await lockPullsOf(tx, applicant.applicantId);
      // The applications service may have been asked before the erasure, or not have erased yet.
      if (await isErased(tx, { ...applicant, retailerId })) throw applicantErased();
      const earlier = repeated ?? (await findOrJoinPull(deps, tx, applicantCall, request));
      if (earlier !== undefined) await markLastRequested(tx, earlier);
      // Where no pull is repeated, the consent was found.
      const insert = () => insertNew(deps, tx, applicantCall, request, permitted as Permitted);
      const pull = earlier ?? (await insert());
      const isNew = earlier === undefined;
      const answer = create(RequestCreditFileResponseSchema, { pull: pullMessage(pull), isNew });
      await store(tx, answer);
      const action = isNew ? 'PULL_REQUESTED' : 'PULL_JOINED';
      await appendAuditRecord(tx, deps.keyRing, requestRecord(deps, applicantCall, action, pull));
      return answer;
    });
    if (response.isNew) deps.onRequested();
    return response;
  }).catch((error) => recordRefusal(deps, applicantCall, request, error));
}

function requestRecord(
  deps: RequestCreditFileDeps,
  { applicant, retailerId, call }: ApplicantCall,
  action: AuditAction,
  found?: PullRow,
): AuditRecord {
  return {
    ...applicant,
    retailerId,
    action,
    at: deps.clock(),
    ...callerFacts(call, deps),
    purpose: PURPOSE,
    ...(found && {
      pullId: found.id,
      source: found.source,
      consentId: found.consent.consentId,
    }),
  };
}

/** The refusals of a pull of the retailer's own applicant, which the audit log records. */
const RECORDED_REFUSALS = new Set([
  'consent_missing',
  'applicant_incomplete',
  'application_archived',
  'applicant_erased',
  'bureau_not_configured',
  'bureau_credentials_missing',
  'force_pull_limit',
]);

/** Records a refusal, and throws it. When it cannot be recorded, throws the error of the record, with the refusal as its cause. */
async function recordRefusal(
  deps: RequestCreditFileDeps,
  applicantCall: ApplicantCall,
  { source }: CreditFileRequest,
  error: unknown,
): Promise<never> {
  if (error instanceof Fault && RECORDED_REFUSALS.has(error.code)) {
    const record = requestRecord(deps, applicantCall, 'PULL_REFUSED');
    const db = deps.requests.of(applicantCall.call).onRow(applicantCall.retailerId);
    try {
      await inTransaction(db, (tx) =>
        appendAuditRecord(tx, deps.keyRing, { ...record, source, outcome: error.code }),
      );
    } catch (err) {
      const message = 'a refused request for a credit file is missing from the audit log';
      const fields = { err, refusal: error.code, retailerId: applicantCall.retailerId };
      // A caller who left while the record waited for its turn has not learned of the refusal either.
      if (!applicantCall.call.signal.aborted) deps.log.warn(fields, message);
      // The caller asks again, and what is refused is recorded then.
      if (err instanceof Error) err.cause ??= error;
      throw err;
    }
  }
  throw error;
}

async function findRepeated(
  db: Queryable,
  { applicant }: ApplicantCall,
  { source, callerRequestId }: CreditFileRequest,
): Promise<PullRow | undefined> {
  if (callerRequestId === '') return undefined;
  return (await findEarlierPulls(db, applicant, source, callerRequestId)).sameRequest;
}

/** The pull that the request gets instead of a new one. The caller's id of the request leads to that pull from then on. */
async function findOrJoinPull(
  { minAgeMs, clock }: RequestCreditFileDeps,
  tx: Queryable,
  { applicant }: ApplicantCall,
  { source, callerRequestId, force }: CreditFileRequest,
): Promise<PullRow | undefined> {
  const earlier = await findEarlierPulls(tx, applicant, source, callerRequestId || null);
  const pull = findPullFor(earlier, { force, now: clock(), minAgeMs });
  if (callerRequestId !== '' && pull !== undefined && pull !== earlier.sameRequest) {
    await insertJoinedRequest(tx, pull, callerRequestId);
  }
  return pull;
}

async function insertNew(
  deps: RequestCreditFileDeps,
  tx: Queryable,
  { applicant, retailerId, call }: ApplicantCall,
  { source, callerRequestId, force }: CreditFileRequest,
  { person, consent }: Permitted,
): Promise<PullRow> {
  const { keyRing, clock, newId, requireConfigured } = deps;
  const owner = { applicantId: applicant.applicantId, retailerId };
  requireConfigured(source);
  requireInquiry(person, source, clock());
  if (!(await hasBureauCredentials(tx, retailerId, source))) {
    throw conflict(
      'bureau_credentials_missing',
      `The retailer has no credentials with ${source}. The platform's administration sets them.`,
    );
  }
  const keyId = await ensureApplicantKey(tx, { keyRing, newId }, owner, clock());
  const pull = {
    ...applicant,
    id: newId(),
    keyId,
    retailerId,
    source,
    forced: force,
    callerRequestId: callerRequestId || null,
    requestedBy: call.identity.subject,
    requestId: call.requestId,
    consent: consentOf(consent),
    traceparent: call.traceparent,
  };
  const insert = () => insertPull(tx, pull);
  return force ? insertForced(tx, deps, pull, person, insert) : insert();
}

/** This applicant, and the consent that permits a pull. */
async function requireConsent(
  { consents }: RequestCreditFileDeps,
  { applicant, retailerId, call }: ApplicantCall,
): Promise<Permitted> {
  const subject = await findInquirySubject(consents, applicant, call);
  if (subject?.retailerId !== retailerId) throw applicantNotFound();
  if (subject.isArchived) {
    throw conflict('application_archived', 'The application is archived.');
  }
  if (subject.applicant.erasedAt !== undefined) throw applicantErased();
  if (subject.consent === undefined) {
    throw invalid(
      'consent_missing',
      'The applicant has no consent to an inquiry that is neither revoked nor ended.',
    );
  }
  return { person: subject.applicant, consent: subject.consent };
}

function applicantErased(): Fault {
  return conflict('applicant_erased', 'The personal data of the applicant was erased.');
}
