/** Runs one pull that this process owns: asks for the subject and the consent, sends the inquiry, and ends the pull. */
import { setTimeout as delay } from 'node:timers/promises';
import { findKey } from '@creditlane/crypto/applicant-keys';
import { SealError, UnknownKeyError } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { isTransientError } from '@creditlane/postgres/error-classes';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { ConsentsService } from '@creditlane/proto/applications/v1/consents_service';
import type { Client } from '@creditlane/rpc/client';
import type { Clock } from '@creditlane/runtime/clock';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { endSpansAfter, startSpan } from '@creditlane/runtime/telemetry/tracing';
import { appendAuditRecord } from '../audit/audit-log.ts';
import type { AuditRecord } from '../audit/audit-record.ts';
import {
  type BureauCredentials,
  openCredentials,
} from '../bureau-credentials/sealed-credentials.ts';
import type { Source, UnknownCode } from '../bureaus/bureau.ts';
import type { SendInquiry } from '../bureaus/open-bureaus.ts';
import { outcomeLabels } from '../bureaus/transport/bureau-metrics.ts';
import type { InquiryOutcome, NeverSentReason } from '../bureaus/transport/inquiry-outcome.ts';
import type { CreditFile } from '../credit-file.ts';
import { sealCreditFile } from '../custody/applicant-keys.ts';
import { findInquirySubject, type InquirySubject, inquiryOf } from '../inquiry-subject.ts';
import { findCredentials } from '../store/bureau-credentials.ts';
import { insertCreditFile } from '../store/credit-files.ts';
import {
  endLostPulls,
  endPull,
  findRetailersOfLost,
  type LeaseTimes,
  lockMarkedPull,
  markSent,
  type OwnedPull,
  postponePull,
} from '../store/pull-states.ts';
import { type CompleteFile, completeFile, hitTypeOf, isTooLarge } from './complete-file.ts';
import { type Consent, consentOf, type Failure, type PullRow } from './pull.ts';

export interface RunPullDeps extends LeaseTimes {
  pool: Database['pool'];
  log: Log;
  consents: Client<typeof ConsentsService>;
  sendInquiry: SendInquiry;
  keyRing: KeyRing;
  clock: Clock;
  /** Of the jitter between attempts, in [0, 1). */
  random: () => number;
  newId: () => string;
  onUnknownCodes: (source: Source, codes: readonly UnknownCode[]) => void;
}

/**
 * An inquiry that was never sent is tried so many times, within 12 s on average: longer than a circuit breaker
 * that has just opened stays open, which is 7.5 s at most.
 */
const MAX_ATTEMPTS = 6;
const BETWEEN_ATTEMPTS = { baseMs: 1_000, capMs: 8_000 };

/**
 * How long a pull waits while the key ring lacks a key: before its inquiry is sent, that of the credentials or of the audit
 * log's head; afterwards, to record the answer, for which the lease is renewed, that of the head or of the applicant. Two
 * nodes of Kubernetes may write a new file of the ring two minutes apart.
 */
const KEY_WITHIN_MS = 5 * 60_000;
const BETWEEN_LOOKS_FOR_KEY = { baseMs: 4_000, capMs: 4_000 };

/** Why a pull's inquiry was not sent although the audit log may say that it is about to be. */
type NotSentReason = NeverSentReason | 'sending_not_recorded' | 'lease_ended';

/** What is known about a pull when it ends. */
type Ending =
  | { state: 'COMPLETE'; file: CreditFile & Pick<CompleteFile, 'hitType'> }
  | { state: 'FAILED'; failure: Failure; wasSent: boolean; notSent?: NotSentReason | undefined }
  | { state: 'UNKNOWN' };

/**
 * Runs the pull to its end, or gives it back when the inquiry was certainly never sent. Resolves to the ended
 * pull; undefined when it was given back or has another owner. Rejects when the database is away; the lease
 * then decides.
 *
 * @param stop keeps a pull from sending its inquiry, and gives it back
 */
export async function runPull(
  deps: RunPullDeps,
  pull: OwnedPull,
  stop: AbortSignal,
): Promise<PullRow | undefined> {
  const { log, consents } = deps;
  let credentials: BureauCredentials | undefined;
  try {
    credentials = await findOwnCredentials(deps, pull);
  } catch (err) {
    log.warn({ err, pullId: pull.id }, 'the credentials of a retailer cannot be read');
    return retry(deps, pull, stop, { err });
  }
  if (credentials === undefined) return end(deps, pull, failed('CREDENTIALS'));
  let subject: InquirySubject | undefined;
  try {
    subject = await findInquirySubject(consents, pull, {
      signal: stop,
      traceparent: pull.traceparent ?? undefined,
    });
  } catch (err) {
    log.info({ err, pullId: pull.id }, 'the subject of an inquiry cannot be read');
    return retry(deps, pull, stop);
  }
  // An applicant that is gone and an archived application permit no inquiry either.
  if (
    subject?.consent === undefined ||
    subject.isArchived ||
    subject.retailerId !== pull.retailerId
  ) {
    return end(deps, pull, failed('CONSENT'));
  }
  if (stop.aborted) return retry(deps, pull, stop);
  const markedMs = performance.now();
  let isRecorded: boolean;
  try {
    isRecorded = await recordSending(deps, pull, consentOf(subject.consent));
    if (!isRecorded && (await findKey(deps.pool, pull.keyId)) === undefined) {
      return await end(deps, pull, failed('CONSENT'));
    }
  } catch (err) {
    // The commit may have succeeded: without this, the outcome of an inquiry that was never sent would be unknown.
    log.warn({ err, pullId: pull.id }, 'the sending of an inquiry cannot be recorded');
    return retry(deps, pull, stop, { err, notSent: 'sending_not_recorded' });
  }
  if (!isRecorded) {
    log.info({ pullId: pull.id }, 'the lease of a pull has ended, so its inquiry is not sent');
    // Unless another owner has taken the pull: a lease that has been renewed since would keep everybody waiting.
    return retry(deps, pull, stop);
  }
  // A process that was suspended meanwhile may have lost the pull: whoever asks again then would make a second
  // inquiry beside this one.
  if (performance.now() - markedMs > deps.leaseMs) {
    return retry(deps, pull, stop, { notSent: 'lease_ended' });
  }
  const inquiry = inquiryOf(pull.id, subject.applicant);
  const outcome = await inSpan(pull, () => deps.sendInquiry(inquiry, credentials));
  if (outcome.kind !== 'never_sent') return end(deps, pull, endingOf(deps, pull, outcome));
  const { reason } = outcome;
  log.info({ pullId: pull.id, source: pull.source, reason }, 'an inquiry was never sent');
  const failure = LASTING_FAILURES[reason];
  if (failure === undefined) return retry(deps, pull, stop, { notSent: reason });
  return end(deps, pull, { ...failed(failure), notSent: reason });
}

/** Sends in a span of the trace of the pull's request, which ends with the outcome of its inquiry, which names no person. */
function inSpan(
  { id, source, applicationId, traceparent }: OwnedPull,
  send: () => Promise<InquiryOutcome>,
): Promise<InquiryOutcome> {
  const span = startSpan(`inquiry ${source}`, {
    kind: 'client',
    parent: traceparent,
    attributes: { 'creditlane.application.id': applicationId, 'creditlane.pull.id': id },
  });
  const ended = send().then((outcome) => {
    const labels = outcomeLabels(outcome);
    if (labels.outcome !== 'file') span.end(`${labels.outcome} ${labels.reason}`.trimEnd());
    return outcome;
  });
  return endSpansAfter([span], ended);
}

/** Commits that the inquiry is about to be sent. False when the lease has ended or the applicant was erased. */
function recordSending(deps: RunPullDeps, pull: OwnedPull, consent: Consent): Promise<boolean> {
  return inTransaction(deps.pool, async (tx) => {
    if (!(await markSent(tx, pull, consent, deps.sentLeaseMs))) return false;
    const record = auditRecord(deps, { ...pull, consent }, { action: 'PULL_SENT' });
    await appendAuditRecord(tx, deps.keyRing, record);
    return true;
  });
}

/**
 * The retailer's credentials; undefined without any that can be opened, which no repetition changes.
 * @throws UnknownKeyError while the key ring lacks their key
 */
async function findOwnCredentials(
  { pool, keyRing, log }: RunPullDeps,
  { retailerId, source }: OwnedPull,
): Promise<BureauCredentials | undefined> {
  const row = (await findCredentials(pool, retailerId)).find((it) => it.source === source);
  try {
    return row && openCredentials(keyRing, row);
  } catch (err) {
    if (!(err instanceof SealError)) throw err;
    log.error({ err, retailerId, source }, 'the credentials of a retailer cannot be opened');
    return undefined;
  }
}

function failed(failure: Failure, wasSent = false): Extract<Ending, { state: 'FAILED' }> {
  return { state: 'FAILED', failure, wasSent };
}

const FAILURE_OF_REFUSAL = {
  credentials: 'CREDENTIALS',
  rejected: 'REJECTED',
  unavailable: 'UNAVAILABLE',
} as const;

/** The reasons for which an inquiry is not sent that no repetition removes. */
const LASTING_FAILURES: Partial<Record<NeverSentReason, Failure>> = {
  token_refused: 'CREDENTIALS',
  address_denied: 'CREDENTIALS',
  request_invalid: 'REJECTED',
  not_configured: 'UNAVAILABLE',
};

function endingOf(
  { log, onUnknownCodes }: RunPullDeps,
  { id: pullId, source }: OwnedPull,
  outcome: Exclude<InquiryOutcome, { kind: 'never_sent' }>,
): Ending {
  if (outcome.kind === 'unknown') {
    log.warn({ pullId, source, reason: outcome.reason }, 'the outcome of a pull is unknown');
    return { state: 'UNKNOWN' };
  }
  const { answer } = outcome;
  if (answer.kind === 'file') {
    onUnknownCodes(source, answer.unknownCodes);
    if (isTooLarge(answer.file)) {
      log.warn({ pullId, source }, 'the file in the answer of a bureau is too large to be read');
      return failed('MALFORMED_ANSWER', true);
    }
    const hitType = hitTypeOf(answer.file);
    if (hitType !== undefined) return { state: 'COMPLETE', file: { ...answer.file, hitType } };
    log.warn(
      { pullId, source },
      'the answer of a bureau has neither a known hit type nor contents',
    );
    return failed('MALFORMED_ANSWER', true);
  }
  if (answer.kind === 'malformed') {
    log.warn({ pullId, source }, 'the answer of a bureau is malformed');
    return failed('MALFORMED_ANSWER', true);
  }
  // The bureau's own description may repeat the inquiry, so only the code is logged.
  log.info({ pullId, source, code: answer.code.slice(0, 20) }, 'a bureau refused an inquiry');
  return failed(FAILURE_OF_REFUSAL[answer.reason], true);
}

/** Gives the pull back for another attempt, or ends it after the last one. Waiting for a key is no attempt. */
async function retry(
  deps: RunPullDeps,
  pull: OwnedPull,
  stop: AbortSignal,
  { err, notSent }: { err?: unknown; notSent?: NotSentReason } = {},
): Promise<PullRow | undefined> {
  const ageMs = deps.clock().getTime() - pull.requestedAt.getTime();
  const waitsForKey = err instanceof UnknownKeyError && ageMs < KEY_WITHIN_MS;
  const countsAsAttempt = !stop.aborted && !waitsForKey;
  const attempt = pull.attempts + 1;
  if (attempt >= MAX_ATTEMPTS && countsAsAttempt) {
    return end(deps, pull, { ...failed('UNAVAILABLE'), notSent });
  }
  const between = waitsForKey ? BETWEEN_LOOKS_FOR_KEY : BETWEEN_ATTEMPTS;
  const delayMs = stop.aborted ? 0 : backoffMs(attempt, between, deps.random);
  const postponed = { delayMs, countsAsAttempt };
  await untilRecorded(() =>
    inTransaction(deps.pool, async (tx) => {
      const consent = notSent && (await lockMarkedPull(tx, pull));
      if ((await postponePull(tx, pull, postponed)) && consent) {
        await recordNotSent(deps, tx, { ...pull, consent }, notSent);
      }
    }),
  );
  return undefined;
}

/** Records that the inquiry, which the audit log says is about to be sent, never was. */
async function recordNotSent(
  deps: RunPullDeps,
  tx: Queryable,
  pull: PullRow,
  outcome: NotSentReason,
): Promise<void> {
  const record = auditRecord(deps, pull, { action: 'PULL_NOT_SENT', outcome });
  await appendAuditRecord(tx, deps.keyRing, record);
}

/** How long a change is tried again while the database is away: an answer cannot be asked for twice. */
const RECORD_WITHIN_MS = 60_000;
const BETWEEN_RECORDINGS = { baseMs: 100, capMs: 2_000 };

async function untilRecorded<T>(change: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  for (let failures = 1; ; failures += 1) {
    try {
      return await change();
    } catch (err) {
      const withinMs = err instanceof UnknownKeyError ? KEY_WITHIN_MS : RECORD_WITHIN_MS;
      const mayPass = err instanceof UnknownKeyError || isTransientError(err);
      if (!mayPass || performance.now() - startedMs > withinMs) throw err;
      await delay(backoffMs(failures, BETWEEN_RECORDINGS));
    }
  }
}

/** Ends the pull under its fence, in one transaction with its file. */
function end(deps: RunPullDeps, pull: OwnedPull, ending: Ending): Promise<PullRow | undefined> {
  return untilRecorded(() => inTransaction(deps.pool, (tx) => writeEnd(deps, tx, pull, ending)));
}

async function writeEnd(
  deps: RunPullDeps,
  tx: Queryable,
  pull: OwnedPull,
  ending: Ending,
): Promise<PullRow | undefined> {
  const wasSent = ending.state !== 'FAILED' || ending.wasSent;
  const notSent = ending.state === 'FAILED' ? ending.notSent : undefined;
  const consent = notSent && (await lockMarkedPull(tx, pull));
  const ended = await endPull(tx, pull, { ...ending, wasSent });
  if (ended === undefined) return undefined;
  if (notSent && consent) await recordNotSent(deps, tx, { ...pull, consent }, notSent);
  const fileId =
    ending.state === 'COMPLETE' ? await storeFile(deps, tx, pull, ending.file) : undefined;
  const outcome = ended.failure ?? ended.state;
  const record = auditRecord(deps, ended, { action: 'PULL_FINISHED', fileId, outcome });
  await appendAuditRecord(tx, deps.keyRing, record);
  return ended;
}

/** Stores the file, and resolves to its id; undefined when the applicant was erased meanwhile. */
async function storeFile(
  { keyRing, newId }: RunPullDeps,
  tx: Queryable,
  pull: OwnedPull,
  given: CreditFile & Pick<CompleteFile, 'hitType'>,
): Promise<string | undefined> {
  const id = newId();
  const file = completeFile(given, { id, pull });
  const { id: pullId, retailerId, applicantId, source, keyId } = pull;
  const text = JSON.stringify(file);
  const sealed = await sealCreditFile(tx, keyRing, { keyId, fileId: id, text });
  if (sealed === undefined) return undefined;
  const { hitType, requestedDate } = file;
  await insertCreditFile(tx, {
    ...{ id, pullId, retailerId, applicantId, source, hitType, requestedDate, sealed },
  });
  return id;
}

/**
 * Ends the pulls whose owner died after it had sent the inquiry: their outcome is unknown. Those of a retailer whose
 * audit log takes no record stay, and keep nobody else's pulls from going on.
 *
 * @param own the pulls that this process runs, which are not lost
 */
export async function endLost(deps: RunPullDeps, own: readonly string[]): Promise<PullRow[]> {
  const ended: PullRow[] = [];
  for (const retailerId of await findRetailersOfLost(deps.pool, own)) {
    try {
      ended.push(...(await endLostOf(deps, retailerId, own)));
    } catch (err) {
      deps.log.error({ err, retailerId }, 'the lost pulls of a retailer cannot be ended');
    }
  }
  return ended;
}

function endLostOf(
  deps: RunPullDeps,
  retailerId: string,
  own: readonly string[],
): Promise<PullRow[]> {
  return inTransaction(deps.pool, async (tx) => {
    const lost = await endLostPulls(tx, retailerId, own);
    for (const pull of lost) {
      const record = auditRecord(deps, pull, { action: 'PULL_FINISHED', outcome: pull.state });
      await appendAuditRecord(tx, deps.keyRing, record);
    }
    return lost;
  });
}

function auditRecord(
  { clock }: RunPullDeps,
  { id: pullId, ...pull }: PullRow,
  act: Pick<AuditRecord, 'action' | 'fileId' | 'outcome'>,
): AuditRecord {
  const { retailerId, applicationId, applicantId, source, requestId, consent } = pull;
  return {
    ...{ retailerId, applicationId, applicantId, pullId, source, requestId, ...act },
    at: clock(),
    actor: { kind: 'service', id: 'credit-file' },
    purpose: consent.purpose,
    consentId: consent.consentId,
  };
}
