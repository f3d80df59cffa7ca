/** Records what became of a pull: that it ended, with its file, or that it is given back for another attempt. */
import { setTimeout as delay } from 'node:timers/promises';
import { UnknownKeyError } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { isTransientError } from '@creditlane/postgres/error-classes';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { Fault, type FaultKind } from '@creditlane/rpc/fault';
import type { Clock } from '@creditlane/runtime/clock';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { appendAuditRecord } from '../audit/audit-log.ts';
import { type AuditRecord, pullFacts, THE_SERVICE } from '../audit/audit-record.ts';
import type { NeverSentReason } from '../bureaus/transport/inquiry-outcome.ts';
import type { CreditFile } from '../credit-file.ts';
import { sealCreditFile } from '../custody/credit-file-keys.ts';
import { insertCreditFile } from '../store/credit-files.ts';
import {
  endLostPulls,
  endPull,
  findOwnEndedPull,
  lockMarkedPull,
  type OwnedPull,
  postponePull,
} from '../store/pull-states.ts';
import { type CompleteFile, completeFile } from './complete-file.ts';
import type { Failure, PullRow } from './pull.ts';

export interface RecordEndingDeps {
  pool: Database['pool'];
  keyRing: KeyRing;
  clock: Clock;
  log: Log;
  /** Of the jitter between attempts, in [0, 1). */
  random: () => number;
  newId: () => string;
}

/**
 * An inquiry that was never sent is tried so many times, within 12 s on average: longer than a circuit breaker
 * that has just opened stays open, which is 7.5 s at most.
 */
const MAX_ATTEMPTS = 6;
const BETWEEN_ATTEMPTS = { baseMs: 1_000, capMs: 8_000 };

/**
 * How long a pull waits, before its inquiry is sent, for what the platform itself lacks: the applications service, the
 * database, or a key of the key ring, which two nodes of Kubernetes may have two minutes apart.
 */
const PLATFORM_WITHIN_MS = 5 * 60_000;
const BETWEEN_WAITS = { baseMs: 4_000, capMs: 4_000 };

/** Why a pull's inquiry was not sent although the audit log may say that it is about to be. */
type NotSentReason = NeverSentReason | 'sending_not_recorded' | 'lease_ended';

/** What is known about a pull when it ends. */
export type Ending =
  | { state: 'COMPLETE'; file: CreditFile & Pick<CompleteFile, 'hitType'> }
  | {
      state: 'FAILED';
      failure: Failure;
      wasSent: boolean;
      notSent?: NotSentReason | undefined;
      /** Why the bureau refused the inquiry. */
      bureauCode?: string | undefined;
    }
  | { state: 'UNKNOWN' };

/** The ending of a pull that has failed. */
export function failed(failure: Failure, wasSent = false): Extract<Ending, { state: 'FAILED' }> {
  return { state: 'FAILED', failure, wasSent };
}

/**
 * Ends the pull under its fence, in one transaction with its file. Resolves to the ended pull; undefined when it has
 * another owner.
 */
export function recordEnding(
  deps: RecordEndingDeps,
  pull: OwnedPull,
  ending: Ending,
): Promise<PullRow | undefined> {
  const wasSent = ending.state !== 'FAILED' || ending.wasSent;
  const notSent = ending.state === 'FAILED' ? ending.notSent : undefined;
  return untilRecorded(deps, { pull, hasAnswer: wasSent }, async (tx, isRepeated) => {
    const consent = notSent && (await lockMarkedPull(tx, pull));
    const ended = await endPull(tx, pull, { ...ending, wasSent });
    // A commit whose answer was lost may have ended the pull before.
    if (ended === undefined) return isRepeated ? findOwnEndedPull(tx, pull, ending) : undefined;
    if (notSent && consent) await recordNotSent(deps, tx, { ...pull, consent }, notSent);
    const fileId =
      ending.state === 'COMPLETE' ? await storeFile(deps, tx, pull, ending.file) : undefined;
    const outcome = ended.failure ?? ended.state;
    await appendPullRecord(deps, tx, ended, { action: 'PULL_FINISHED', fileId, outcome });
    return ended;
  });
}

/** Stores the file, and resolves to its id; undefined when the applicant was erased meanwhile. */
async function storeFile(
  { keyRing, newId }: RecordEndingDeps,
  tx: Queryable,
  pull: OwnedPull,
  given: CreditFile & Pick<CompleteFile, 'hitType'>,
): Promise<string | undefined> {
  const id = newId();
  const file = completeFile(given, { id, pull });
  const { id: pullId, retailerId, applicantId, source, keyId } = pull;
  const text = JSON.stringify(file);
  const sealed = await sealCreditFile(tx, keyRing, { id, keyId, text });
  if (sealed === undefined) return undefined;
  const { hitType, requestedDate } = file;
  const row = { id, pullId, retailerId, applicantId, source, hitType, requestedDate, sealed };
  await insertCreditFile(tx, row);
  return id;
}

const PASSING_FAULTS: ReadonlySet<FaultKind> = new Set([
  'unavailable',
  'deadline',
  'resource_exhausted',
]);

/** Whether a failure of the platform itself passes: the database or a service is away, or the key ring lacks a key. */
export function mayPass(err: unknown): boolean {
  if (err instanceof Fault) return PASSING_FAULTS.has(err.kind);
  return err instanceof UnknownKeyError || isTransientError(err);
}

/**
 * Gives the pull back for another attempt, or ends it after the last one. What the platform lacks counts as no attempt of a
 * pull younger than PLATFORM_WITHIN_MS: it says nothing about the bureau.
 */
export async function retryOrEnd(
  deps: RecordEndingDeps,
  pull: OwnedPull,
  stop: AbortSignal,
  { ofPlatform = false, notSent }: { ofPlatform?: boolean; notSent?: NotSentReason } = {},
): Promise<PullRow | undefined> {
  const ageMs = deps.clock().getTime() - pull.requestedAt.getTime();
  const waits = ofPlatform && ageMs < PLATFORM_WITHIN_MS;
  const countsAsAttempt = !stop.aborted && !waits;
  const attempt = pull.attempts + 1;
  if (attempt >= MAX_ATTEMPTS && countsAsAttempt) {
    return recordEnding(deps, pull, { ...failed('UNAVAILABLE'), notSent });
  }
  const between = waits ? BETWEEN_WAITS : BETWEEN_ATTEMPTS;
  const delayMs = stop.aborted ? 0 : backoffMs(attempt, between, deps.random);
  const postponed = { delayMs, countsAsAttempt };
  await untilRecorded(deps, { pull, hasAnswer: false }, async (tx) => {
    const consent = notSent && (await lockMarkedPull(tx, pull));
    if ((await postponePull(tx, pull, postponed)) && consent) {
      await recordNotSent(deps, tx, { ...pull, consent }, notSent);
    }
  });
  return undefined;
}

/**
 * Ends the retailers' pulls whose owner died after it had sent the inquiry: their outcome is unknown. Those of a retailer
 * whose audit log takes no record stay, and keep nobody else's pulls from going on.
 *
 * @param own the pulls that this process runs, which are not lost
 */
export async function recordLostPulls(
  deps: RecordEndingDeps,
  retailerIds: readonly string[],
  own: readonly string[],
): Promise<PullRow[]> {
  const ended: PullRow[] = [];
  for (const retailerId of retailerIds) {
    try {
      const lost = await inTransaction(deps.pool, async (tx) => {
        const pulls = await endLostPulls(tx, retailerId, own);
        for (const pull of pulls) {
          await appendPullRecord(deps, tx, pull, { action: 'PULL_FINISHED', outcome: pull.state });
        }
        return pulls;
      });
      ended.push(...lost);
    } catch (err) {
      deps.log.error({ err, retailerId }, 'the lost pulls of a retailer cannot be ended');
    }
  }
  return ended;
}

/** Appends an act of the service itself on the pull to the audit log, in the transaction of the change. */
export function appendPullRecord(
  { keyRing, clock }: RecordEndingDeps,
  tx: Queryable,
  pull: PullRow,
  act: Pick<AuditRecord, 'action' | 'fileId' | 'outcome'>,
): Promise<void> {
  return appendAuditRecord(tx, keyRing, {
    ...pullFacts(pull),
    ...act,
    at: clock(),
    actor: THE_SERVICE,
    requestId: pull.requestId,
  });
}

/** Records that the inquiry, which the audit log says is about to be sent, never was. */
function recordNotSent(
  deps: RecordEndingDeps,
  tx: Queryable,
  pull: PullRow,
  outcome: NotSentReason,
): Promise<void> {
  return appendPullRecord(deps, tx, pull, { action: 'PULL_NOT_SENT', outcome });
}

const BETWEEN_RECORDINGS = { baseMs: 100, capMs: 2_000 };
/** Some two minutes apart. */
const FAILURES_PER_LINE = 100;

/**
 * Makes the change, again and again while the database is away or the ring lacks a key. With `hasAnswer` it goes on until the
 * process has ended its connections: an answer cannot be asked for twice, because another inquiry harms the consumer. Without,
 * it gives up after PLATFORM_WITHIN_MS, and the pull is taken over. Meanwhile the pull counts towards `maxPulls`, and its lease
 * is renewed; once the lease has ended, other replicas record UNKNOWN, which the answer replaces.
 */
async function untilRecorded<T>(
  { pool, log }: RecordEndingDeps,
  { pull: { id: pullId }, hasAnswer }: { pull: OwnedPull; hasAnswer: boolean },
  change: (tx: Queryable, isRepeated: boolean) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  for (let failures = 1; ; failures += 1) {
    try {
      return await inTransaction(pool, (tx) => change(tx, failures > 1));
    } catch (err) {
      const isLate = !hasAnswer && performance.now() - startedMs >= PLATFORM_WITHIN_MS;
      if (!mayPass(err) || pool.ending || isLate) throw err;
      if (failures % FAILURES_PER_LINE === 1) {
        log.warn({ err, pullId, failures }, 'what became of a pull cannot be recorded yet');
      }
      await delay(backoffMs(failures, BETWEEN_RECORDINGS));
    }
  }
}
