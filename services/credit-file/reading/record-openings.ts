/** Records in the audit log how often links to documents were opened again, once the minute of the openings is over. */
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
import { minuteOf } from '../document/document-openings.ts';
import { findRetailersWithOpenings, takeOpenings } from '../store/document-openings.ts';

const EVERY_MS = 15_000;
/** Records per transaction, which holds up the requests of one retailer: some 2 ms for each. */
const BATCH_ROWS = 50;

export interface RecordOpeningsDeps extends Pick<Database, 'pool' | 'rowTurns'> {
  keyRing: KeyRing;
  clock: Clock;
  log: Log;
}

/** Records the openings of the minutes that are over. A retailer whose audit log takes no record keeps its openings. */
export async function recordOpenings(
  { pool, rowTurns, keyRing, clock, log }: RecordOpeningsDeps,
  stop?: AbortSignal,
): Promise<void> {
  const before = minuteOf(clock());
  for (const retailerId of await findRetailersWithOpenings(pool, before)) {
    const recordBatch = () =>
      inTransaction(pool, async (tx) => {
        const taken = await takeOpenings(tx, retailerId, before, BATCH_ROWS);
        for (const { record, repeats } of taken) {
          if (repeats === 0) continue;
          const again = { action: 'DOCUMENT_READ_AGAIN', outcome: String(repeats) } as const;
          await appendAuditRecord(tx, keyRing, { ...record, ...again });
        }
        return taken.length;
      });
    try {
      while (!stop?.aborted && (await rowTurns.run(retailerId, recordBatch)) === BATCH_ROWS);
    } catch (err) {
      log.warn({ err, retailerId }, 'openings of documents are not recorded yet');
    }
  }
}

/** Records every 15 seconds until closed. */
export function startRecordingOpenings(deps: RecordOpeningsDeps, everyMs = EVERY_MS): PeriodicTask {
  return startPeriodicTask(everyMs, (stop) =>
    recordOpenings(deps, stop).catch((err) =>
      deps.log.warn({ err }, 'openings of documents cannot be read'),
    ),
  );
}
