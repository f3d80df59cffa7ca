/** Erases an applicant: destroys the data key, and with it everything that the key has sealed. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Clock } from '@creditlane/runtime/clock';
import { appendAuditRecord } from '../audit/audit-log.ts';
import type { AuditActor } from '../audit/audit-record.ts';
import type { PullRow } from '../pulls/pull.ts';
import { type ApplicantOfRetailer, destroyKey } from '../store/applicant-keys.ts';
import { deleteFilesOf, endUnsentPulls } from '../store/kept-files.ts';
import { lockPullsOf } from '../store/pulls.ts';

export interface EraseApplicantDeps {
  pool: Database['pool'];
  keyRing: KeyRing;
  clock: Clock;
  /** Is called after the commit with each pull that the erasure ended. */
  onEnded?: (pull: PullRow) => void;
}

/** Who erases, and the X-Request-Id of a request that asked for it. */
export interface Eraser {
  actor: AuditActor;
  requestId?: string;
}

/**
 * Destroys the applicant's data key and deletes the applicant's files. Reads then answer as if no file had ever been
 * pulled. A pull under way stores no file, a pull whose inquiry was not sent sends none, and only a new request
 * makes a new key. The pulls and the audit log stay: they hold ids only, and prove what was permitted.
 *
 * Copies of the stored key in backups, in WAL and in pages that are not yet overwritten are wrapped by a key of
 * the key ring; they end when the ring is rotated and its old key is destroyed.
 *
 * @returns the number of files; undefined when the applicant has no key, so that nothing was changed
 */
export async function eraseApplicant(
  deps: EraseApplicantDeps,
  applicant: ApplicantOfRetailer,
  eraser: Eraser,
): Promise<number | undefined> {
  const erased = await eraseStored(deps, applicant, eraser);
  for (const pull of erased?.ended ?? []) deps.onEnded?.(pull);
  return erased?.files;
}

function eraseStored(
  { pool, keyRing, clock }: EraseApplicantDeps,
  applicant: ApplicantOfRetailer,
  { actor, requestId }: Eraser,
): Promise<{ files: number; ended: PullRow[] } | undefined> {
  return inTransaction(pool, async (tx) => {
    // A request under way has found the key, and its pull is not visible before its commit.
    await lockPullsOf(tx, applicant.applicantId);
    const at = clock();
    if (!(await destroyKey(tx, applicant, at))) return undefined;
    const files = await deleteFilesOf(tx, applicant);
    const record = { at, actor, requestId };
    const ended = await endUnsentPulls(tx, applicant);
    for (const { id: pullId, applicationId, source, consent } of ended) {
      const { purpose, consentId } = consent;
      await appendAuditRecord(tx, keyRing, {
        ...{ ...record, ...applicant, applicationId, pullId, source, purpose, consentId },
        ...{ action: 'PULL_FINISHED', outcome: 'CONSENT' },
      });
    }
    await appendAuditRecord(tx, keyRing, { ...record, ...applicant, action: 'APPLICANT_ERASED' });
    return { files, ended };
  });
}
