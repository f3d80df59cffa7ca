/** Deletes credit files after their retention time. Pulls and the audit log stay. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Clock } from '@creditlane/runtime/clock';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { appendAuditRecord } from '../audit/audit-log.ts';
import { type AuditActor, THE_SERVICE } from '../audit/audit-record.ts';
import {
  countFilesBefore,
  type DueFiles,
  deleteFilesBefore,
  findDueRetailers,
} from '../store/credit-files.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const EVERY_MS = 60_000;
/** Files per transaction, which holds up the requests of one retailer: some 2 ms for each file. */
const BATCH_FILES = 50;

export interface PurgeDeps {
  pool: Database['pool'];
  keyRing: KeyRing;
  clock: Clock;
  /** How many days a file is kept. */
  fileRetentionDays: number;
}

export interface PurgedFiles {
  /** How many files were deleted. */
  deleted: number;
  /** The retailers of which some files could not be deleted, and why. */
  failures: { retailerId: string; err: unknown }[];
}

/**
 * Deletes the files that are due, each with an audit record, until `stop` is aborted. A retailer whose audit log takes no
 * record keeps its files; those of the other retailers are deleted.
 */
export async function purgeFiles(
  deps: PurgeDeps,
  actor: AuditActor,
  stop?: AbortSignal,
): Promise<PurgedFiles> {
  const purged: PurgedFiles = { deleted: 0, failures: [] };
  for (const retailerId of await findDueRetailers(deps.pool, dueBefore(deps))) {
    try {
      while (!stop?.aborted) {
        const deleted = await purgeBatch(deps, retailerId, actor);
        if (deleted === 0) break;
        purged.deleted += deleted;
      }
    } catch (err) {
      purged.failures.push({ retailerId, err });
    }
  }
  return purged;
}

/** Deletes up to `BATCH_FILES` files of one retailer in a transaction, which locks the head of the retailer's chain. */
function purgeBatch(deps: PurgeDeps, retailerId: string, actor: AuditActor): Promise<number> {
  const { pool, keyRing, clock } = deps;
  const at = clock();
  return inTransaction(pool, async (tx) => {
    const files = await deleteFilesBefore(tx, retailerId, dueBefore(deps), BATCH_FILES);
    for (const file of files) {
      await appendAuditRecord(tx, keyRing, { action: 'FILE_PURGED', at, actor, ...file });
    }
    return files.length;
  });
}

/** What `purgeFiles` would delete now. */
export function countDueFiles(deps: PurgeDeps): Promise<DueFiles[]> {
  return countFilesBefore(deps.pool, dueBefore(deps));
}

/** Purges every minute until closed; `close` resolves after the batch under way. */
export function startFilePurge(deps: PurgeDeps & { log: Log }): PeriodicTask {
  const warn = (fields: { err: unknown; retailerId?: string }) =>
    deps.log.warn(fields, 'old credit files were not deleted; the next attempt is in a minute');
  const round = async (stop: AbortSignal) => {
    try {
      for (const failure of (await purgeFiles(deps, THE_SERVICE, stop)).failures) warn(failure);
    } catch (err) {
      warn({ err });
    }
  };
  return startPeriodicTask(EVERY_MS, round, { pauseFirst: true });
}

function dueBefore({ clock, fileRetentionDays }: PurgeDeps): Date {
  return new Date(clock().getTime() - fileRetentionDays * DAY_MS);
}
