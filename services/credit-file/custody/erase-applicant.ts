/**
 * Erases an applicant in two steps: this service destroys the data key, and with it everything that the key has
 * sealed; then the applications service erases the personal data. The first step records that the second is to come.
 */
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { type ApplicantOfRetailer, destroyKey } from '@creditlane/crypto/applicant-keys';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound } from '@creditlane/rpc/fault';
import type { OwnCallContext, PeerClient } from '@creditlane/rpc/peer-client';
import type { Clock } from '@creditlane/runtime/clock';
import { appendAuditRecord } from '../audit/audit-log.ts';
import { actorOf, pullFacts } from '../audit/audit-record.ts';
import type { PullRow } from '../pulls/pull.ts';
import { type Eraser, finishErasureRow, insertErasure } from '../store/applicant-erasures.ts';
import { deleteFilesOf } from '../store/credit-files.ts';
import { forgetForcedPulls } from '../store/forced-pulls.ts';
import { endUnsentPulls } from '../store/pull-states.ts';
import { forgetCallerRequestIds, hasPulls, lockPullsOf } from '../store/pulls.ts';

export interface FinishErasureDeps extends Pick<Database, 'pool' | 'rowTurns'> {
  keyRing: KeyRing;
  clock: Clock;
  applications: PeerClient<typeof ApplicationsService>;
}

export interface EraseApplicantDeps extends FinishErasureDeps {
  /** Is called after the commit with each pull that the erasure ended. */
  onEnded?: (pull: PullRow) => void;
}

/**
 * Both steps, for a caller.
 * @throws Fault `applicant_not_found` when the retailer never had such an applicant; `unavailable` while the applications service
 *   cannot be reached, and then the service takes the second step by itself
 */
export async function eraseApplicant(
  deps: EraseApplicantDeps,
  applicant: ApplicantOfRetailer,
  call: Call,
): Promise<void> {
  const eraser = { actor: actorOf(call.identity), requestId: call.requestId };
  // An erasure waits for the head of the retailer's chain, to which it appends records: in the retailer's turns, the
  // erasures of one retailer leave connections for everything else.
  const eraseFiles = () => eraseCreditFiles(deps, applicant, eraser);
  await deps.rowTurns.run(applicant.retailerId, eraseFiles, call);
  const erased = await finishErasure(deps, applicant, call);
  if (!erased && !(await hasPulls(deps.pool, applicant))) {
    throw notFound('applicant_not_found', 'The retailer has no such applicant.');
  }
}

/**
 * The first step: destroys the applicant's data key and deletes the applicant's files. Reads then answer as if no
 * pull had ever been requested. A pull under way stores no file, a pull whose inquiry was not sent sends none, and
 * requests are refused. The pulls and the audit log stay, and prove what was permitted. They hold ids, times and outcomes, and
 * one text that a caller chose, the X-Request-Id. The caller's own id of a request, which is another text, is deleted,
 * and so are the digests by which forced pulls of one person are counted.
 *
 * Copies of the stored key in backups, in WAL and in pages that are not yet overwritten are wrapped by a key of
 * the key ring; they end when the ring is rotated and its old key is destroyed.
 *
 * @returns how many files were deleted
 */
export async function eraseCreditFiles(
  { pool, keyRing, clock, onEnded }: Omit<EraseApplicantDeps, 'rowTurns' | 'applications'>,
  applicant: ApplicantOfRetailer,
  { actor, requestId }: Eraser,
): Promise<{ files: number }> {
  const { files, ended } = await inTransaction(pool, async (tx) => {
    // A request under way has found the key, and its pull is not visible before its commit.
    await lockPullsOf(tx, applicant.applicantId);
    const at = clock();
    await insertErasure(tx, { ...applicant, actor, requestId }, at);
    // Before the key: a worker that records the end of a pull locks the pull first, too.
    await forgetCallerRequestIds(tx, applicant);
    await forgetForcedPulls(tx, applicant);
    const hadKey = await destroyKey(tx, applicant, at);
    // Also when the key is already destroyed: after a restore, a newer dump of the keys destroys keys whose files are back.
    const files = await deleteFilesOf(tx, applicant);
    const ended = await endUnsentPulls(tx, applicant);
    if (!hadKey && files === 0 && ended.length === 0) return { files, ended };
    const record = { at, actor, requestId };
    for (const pull of ended) {
      await appendAuditRecord(tx, keyRing, {
        ...record,
        ...pullFacts(pull),
        action: 'PULL_FINISHED',
        outcome: 'CONSENT',
      });
    }
    await appendAuditRecord(tx, keyRing, { ...record, ...applicant, action: 'APPLICANT_ERASED' });
    return { files, ended };
  });
  for (const pull of ended) onEnded?.(pull);
  return { files };
}

/**
 * The second step, which may be repeated: has the applications service erase the applicant, and records that it did.
 * The audit log gets a record for each time at which data was erased, so another one only when the data had come back,
 * with a backup. Resolves to whether the applications service has the applicant.
 *
 * @throws Fault `unavailable` while the applications service cannot be reached
 */
export async function finishErasure(
  { pool, rowTurns, keyRing, clock, applications }: FinishErasureDeps,
  applicant: ApplicantOfRetailer,
  context: OwnCallContext,
): Promise<boolean> {
  const { applicantId, retailerId } = applicant;
  const { erased, erasedAt } = await applications.eraseApplicant(
    { applicantId, retailerId },
    context,
  );
  const finish = async (tx: Queryable) => {
    // An applications service of the version before does not say when.
    const dataErasedAt = erasedAt === undefined ? clock() : timestampDate(erasedAt);
    const finished = await finishErasureRow(tx, applicant, erased ? dataErasedAt : undefined);
    if (finished === undefined) return;
    const record = { ...finished, action: 'APPLICANT_DATA_ERASED', at: clock() } as const;
    await appendAuditRecord(tx, keyRing, record);
  };
  // The record waits for the head of the retailer's chain.
  await rowTurns.run(retailerId, () => inTransaction(pool, finish), context);
  return erased;
}
