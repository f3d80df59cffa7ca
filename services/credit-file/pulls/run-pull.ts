/** Runs one pull that this process owns: asks for the subject and the consent, sends the inquiry, and ends the pull. */
import { findKey } from '@creditlane/crypto/applicant-keys';
import { SealError } from '@creditlane/crypto/envelope';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { ConsentsService } from '@creditlane/proto/applications/v1/consents_service';
import type { PeerClient } from '@creditlane/rpc/peer-client';
import { endSpansAfter, startSpan } from '@creditlane/runtime/telemetry/tracing';
import {
  type BureauCredentials,
  openCredentials,
} from '../bureau-credentials/sealed-credentials.ts';
import type { Source, UnknownCode } from '../bureaus/bureau.ts';
import type { SendInquiry } from '../bureaus/open-bureaus.ts';
import { outcomeLabels } from '../bureaus/transport/bureau-metrics.ts';
import type {
  InquiryOutcome,
  NeverSentReason,
  Withdrawn,
} from '../bureaus/transport/inquiry-outcome.ts';
import { findInquiryProblems } from '../inquiry/inquiry-requirements.ts';
import { findInquirySubject, type InquirySubject, inquiryOf } from '../inquiry/inquiry-subject.ts';
import { findCredentials } from '../store/bureau-credentials.ts';
import { type LeaseTimes, markSent, type OwnedPull } from '../store/pull-states.ts';
import { hitTypeOf, isTooLarge, matchFields } from './complete-file.ts';
import { type Consent, consentOf, type Failure, type PullRow } from './pull.ts';
import {
  appendPullRecord,
  type Ending,
  failed,
  mayPass,
  type RecordEndingDeps,
  recordEnding,
  retryOrEnd,
} from './record-ending.ts';

export interface RunPullDeps extends LeaseTimes, RecordEndingDeps {
  consents: PeerClient<typeof ConsentsService>;
  sendInquiry: SendInquiry;
  onUnknownCodes: (source: Source, codes: readonly UnknownCode[]) => void;
}

/** What a pull does instead of sending its inquiry: it ends, or is given back. */
type Instead = () => Promise<PullRow | undefined>;

interface PermittedSubject extends InquirySubject {
  consent: NonNullable<InquirySubject['consent']>;
}

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
  const { log } = deps;
  let credentials: BureauCredentials | undefined;
  try {
    credentials = await findOwnCredentials(deps, pull);
  } catch (err) {
    log.warn({ err, pullId: pull.id }, 'the credentials of a retailer cannot be read');
    return retryOrEnd(deps, pull, stop, { ofPlatform: mayPass(err) });
  }
  if (credentials === undefined) return recordEnding(deps, pull, failed('CREDENTIALS'));
  const found = await findPermittedSubject(deps, pull, stop);
  if (typeof found === 'function') return found();

  // Called once the access token and a connection are there. A consent that was revoked meanwhile permits no inquiry.
  const prepare = async () => {
    const subject = await findPermittedSubject(deps, pull, stop);
    if (typeof subject === 'function') return { instead: subject };
    const markedMs = performance.now();
    const instead = await markAsSent(deps, pull, subject, markedMs, stop);
    return instead ? { instead } : { inquiry: inquiryOf(pull.id, subject.applicant), markedMs };
  };
  const outcome = await inSpan(pull, () =>
    deps.sendInquiry({ reference: pull.id, prepare }, credentials),
  );
  if (outcome.kind === 'withdrawn') return outcome.instead();
  if (outcome.kind !== 'never_sent') return recordEnding(deps, pull, endingOf(deps, pull, outcome));
  const { reason } = outcome;
  log.info({ pullId: pull.id, source: pull.source, reason }, 'an inquiry was never sent');
  const failure = LASTING_FAILURES[reason];
  if (failure === undefined) return retryOrEnd(deps, pull, stop, { notSent: reason });
  return recordEnding(deps, pull, { ...failed(failure), notSent: reason });
}

/** Asks for the subject; resolves to what the pull does instead when there is none that permits the inquiry. */
async function findPermittedSubject(
  deps: RunPullDeps,
  pull: OwnedPull,
  stop: AbortSignal,
): Promise<PermittedSubject | Instead> {
  const { log, consents } = deps;
  let subject: InquirySubject | undefined;
  try {
    subject = await findInquirySubject(consents, pull, {
      signal: stop,
      traceparent: pull.traceparent ?? undefined,
    });
  } catch (err) {
    log.info({ err, pullId: pull.id }, 'the subject of an inquiry cannot be read');
    return () => retryOrEnd(deps, pull, stop, { ofPlatform: mayPass(err) });
  }
  // An applicant that is gone and an archived application permit no inquiry either.
  const { consent } = subject ?? {};
  if (!subject || !consent || subject.isArchived || subject.retailerId !== pull.retailerId) {
    return () => recordEnding(deps, pull, failed('CONSENT'));
  }
  // The applicant may have been changed since the request.
  const problems = findInquiryProblems(subject.applicant, pull.source, deps.clock());
  if (problems.length > 0) {
    const fields = problems.map(({ pointer }) => pointer);
    log.info({ pullId: pull.id, fields }, 'the applicant lacks what an inquiry needs');
    return () => recordEnding(deps, pull, failed('REJECTED'));
  }
  return { ...subject, consent };
}

/** Commits that the inquiry is about to be sent; resolves to what the pull does instead when it must not be. */
async function markAsSent(
  deps: RunPullDeps,
  pull: OwnedPull,
  { consent }: PermittedSubject,
  markedMs: number,
  stop: AbortSignal,
): Promise<Instead | undefined> {
  const { log } = deps;
  if (stop.aborted) return () => retryOrEnd(deps, pull, stop);
  let isRecorded: boolean;
  try {
    isRecorded = await recordSending(deps, pull, consentOf(consent));
    if (!isRecorded && (await findKey(deps.pool, pull.keyId)) === undefined) {
      return () => recordEnding(deps, pull, failed('CONSENT'));
    }
  } catch (err) {
    // The commit may have succeeded. A pull with `sent_at` that is not given back becomes UNKNOWN, though nothing was sent.
    log.warn({ err, pullId: pull.id }, 'the sending of an inquiry cannot be recorded');
    const failure = { ofPlatform: mayPass(err), notSent: 'sending_not_recorded' } as const;
    return () => retryOrEnd(deps, pull, stop, failure);
  }
  if (!isRecorded) {
    log.info({ pullId: pull.id }, 'the lease of a pull has ended, so its inquiry is not sent');
    // The lease may have been renewed since, and would then keep the pull from every owner until it ends. Under the fence
    // of another owner this changes nothing.
    return () => retryOrEnd(deps, pull, stop);
  }
  // A process that was suspended meanwhile may have lost the pull: whoever asks again then would make a second
  // inquiry beside this one.
  if (performance.now() - markedMs > deps.leaseMs) {
    return () => retryOrEnd(deps, pull, stop, { notSent: 'lease_ended' });
  }
  return undefined;
}

/** Sends in a span of the trace of the pull's request. The span ends with the outcome, which names no person. */
function inSpan(
  { id, source, applicationId, traceparent }: OwnedPull,
  send: () => Promise<InquiryOutcome | Withdrawn<Instead>>,
): Promise<InquiryOutcome | Withdrawn<Instead>> {
  const span = startSpan(`inquiry ${source}`, {
    kind: 'client',
    parent: traceparent,
    attributes: { 'creditlane.application.id': applicationId, 'creditlane.pull.id': id },
  });
  const ended = send().then((outcome) => {
    if (outcome.kind === 'withdrawn') return outcome;
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
    await appendPullRecord(deps, tx, { ...pull, consent }, { action: 'PULL_SENT' });
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
  const [row] = await findCredentials(pool, retailerId, source);
  try {
    return row && openCredentials(keyRing, row);
  } catch (err) {
    if (!(err instanceof SealError)) throw err;
    log.error({ err, retailerId, source }, 'the credentials of a retailer cannot be opened');
    return undefined;
  }
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
    if (hitType !== undefined) {
      const file = { ...answer.file, hitType, ...matchFields(answer.match) };
      return { state: 'COMPLETE', file };
    }
    log.warn(
      { pullId, source },
      'the answer of a bureau has neither a known hit type nor contents',
    );
    return failed('MALFORMED_ANSWER', true);
  }
  if (answer.kind === 'foreign') {
    log.error({ pullId, source }, 'the answer of a bureau is about another person');
    return failed('ANSWER_FOR_ANOTHER_SUBJECT', true);
  }
  if (answer.kind === 'malformed') {
    const { problem } = answer;
    log.warn({ pullId, source, problem }, 'the answer of a bureau is malformed');
    return failed('MALFORMED_ANSWER', true);
  }
  // A code of other characters may repeat the inquiry.
  const bureauCode = isPlainCode(answer) ? answer.code : undefined;
  log.info(
    { pullId, source, bureauCode, errors: answer.errors?.filter(isPlainCode) },
    'a bureau refused an inquiry',
  );
  return { ...failed(FAILURE_OF_REFUSAL[answer.reason], true), bureauCode };
}

function isPlainCode({ code }: { code: string }): boolean {
  return /^[\w.-]{1,20}$/.test(code);
}
