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
import type { AuditActor } from '../audit/audit-record.ts';
import { countFilesBefore, type DueFiles, deleteFilesBefore } from '../store/kept-files.ts';

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

/** Deletes the files that are due, each with an audit record; resolves to their number. */
export async function purgeFiles(deps: PurgeDeps, actor: AuditActor): Promise<number> {
  const { pool, keyRing, clock } = deps;
  for (let total = 0; ; ) {
    const at = clock();
    const deleted = await inTransaction(pool, async (tx) => {
      const files = await deleteFilesBefore(tx, dueBefore(deps), BATCH_FILES);
      for (const file of files) {
        await appendAuditRecord(tx, keyRing, { action: 'FILE_PURGED', at, actor, ...file });
      }
      return files.length;
    });
    if (deleted === 0) return total;
    total += deleted;
  }
}

/** What `purgeFiles` would delete now. */
export function countDueFiles(deps: PurgeDeps): Promise<DueFiles[]> {
  return countFilesBefore(deps.pool, dueBefore(deps));
}

/** Purges every minute until closed. */
export function startFilePurge(deps: PurgeDeps & { log: Log }): PeriodicTask {
  const actor: AuditActor = { kind: 'service', id: 'credit-file' };
  const round = async () => {
    try {
      await purgeFiles(deps, actor);
    } catch (err) {
      deps.log.warn({ err }, 'old credit files were not deleted; the next attempt is in a minute');
    }
  };
  return startPeriodicTask(EVERY_MS, round, EVERY_MS);
}

function dueBefore({ clock, fileRetentionDays }: PurgeDeps): Date {
  return new Date(clock().getTime() - fileRetentionDays * DAY_MS);
}
