/**
 * Seals with the applicants' data keys what a version without them has sealed: applicants, then exports. Each slice is a
 * transaction that passes over locked rows and makes no read wait, so any number of processes may do it at once.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { destroyKey, makeKey } from '@creditlane/crypto/applicant-keys';
import { isUnsealFailure, unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { ApplicantSchema } from '@creditlane/proto/applications/v1/application';
import type { Clock } from '@creditlane/runtime/clock';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { sealWithKeys } from '../export/sealed-payload.ts';
import { findDataKeys } from '../store/applicant-data-keys.ts';
import {
  countSealedInRows,
  lockSealedInRows,
  type SealedInRow,
  setApplicantErased,
  setApplicantSealed,
  setExportSealed,
} from '../store/sealed-in-rows.ts';
import { sealedApplicants, sealedExports } from '../store/sealed-tables.ts';
import type { KeyUse } from './key-use.ts';
import { sealApplicant } from './sealed-applicant.ts';

/** Rows of a transaction: some 100 ms of work. */
const SLICE_ROWS = 100;

export interface ConvertDeps {
  pool: Database['pool'];
  keyRing: KeyRing;
  clock: Clock;
  newId: () => string;
}

/** What was done in a table: `waiting` are exports of which an applicant has no key yet. */
export interface Converted {
  converted: number;
  waiting: number;
  damaged: number;
}

type ConvertRow = (
  tx: Queryable,
  deps: ConvertDeps,
  row: SealedInRow,
) => Promise<'converted' | 'waiting'>;

/** In this order: an export waits for the keys of its applicants. */
export const CONVERTED_TABLES = ['applicants', 'exports'] as const;
export type ConvertedTable = (typeof CONVERTED_TABLES)[number];

const CONVERT: Readonly<Record<ConvertedTable, ConvertRow>> = {
  applicants: convertApplicant,
  exports: convertExport,
};

/** Converts all rows of the table that no other process has locked. */
export async function convertSealedRows(
  deps: ConvertDeps,
  table: ConvertedTable,
  stop?: AbortSignal,
): Promise<Converted> {
  const total = { converted: 0, waiting: 0, damaged: 0 };
  while (!stop?.aborted) {
    const left = total.waiting + total.damaged;
    const outcomes = await inTransaction(deps.pool, async (tx) => {
      const outcomes: (keyof Converted)[] = [];
      for (const row of await lockSealedInRows(tx, table, SLICE_ROWS, left)) {
        try {
          outcomes.push(await CONVERT[table](tx, deps, row));
        } catch (error) {
          // An unsealing fails before the row is written, and fails no statement, so that the transaction goes on.
          if (!isUnsealFailure(error)) throw error;
          outcomes.push('damaged');
        }
      }
      return outcomes;
    });
    if (outcomes.length === 0) break;
    for (const outcome of outcomes) total[outcome] += 1;
  }
  return total;
}

/** Rows that a replica has sealed without data keys at the moment in which their use began are found after this time. */
const EVERY_MS = 60_000;

/** The gauge counts at most this many rows of each table: more of them tell nothing else. */
const MAX_COUNTED_ROWS = 1_000;

/** Converts beside the service until closed, once data keys are used. */
export function startConversion({
  keyUse,
  log,
  metrics,
  ...deps
}: ConvertDeps & { keyUse: KeyUse; log: Log; metrics: Metrics }): PeriodicTask {
  metrics.gauge(
    'applications_rows_without_data_keys',
    'Applicants and exports that no data keys seal, at most 1,000 of each.',
    ['table'],
    async (gauge) => {
      for (const table of CONVERTED_TABLES) {
        gauge.set({ table }, await countSealedInRows(deps.pool, table, MAX_COUNTED_ROWS));
      }
    },
  );
  return startPeriodicTask(EVERY_MS, async (stop) => {
    try {
      if (!(await keyUse.hasBegun())) return;
      for (const table of CONVERTED_TABLES) {
        const done = await convertSealedRows(deps, table, stop);
        if (done.damaged > 0)
          log.error({ table, ...done }, 'records could not be sealed with data keys');
        else if (done.converted > 0) log.info({ table, ...done }, 'records sealed with data keys');
      }
    } catch (err) {
      log.warn({ err }, 'records are not sealed with data keys yet; it is tried again');
    }
  });
}

async function convertApplicant(
  tx: Queryable,
  { keyRing, clock, newId }: ConvertDeps,
  { id, retailerId, sealed, erasedAt }: SealedInRow,
): Promise<'converted'> {
  const applicant = { applicantId: id, retailerId };
  if (erasedAt !== null) {
    await setApplicantErased(tx, id, erasedAt);
    // A version without data keys has erased the row alone, if it has erased an applicant who has a key.
    await destroyKey(tx, applicant, erasedAt);
    return 'converted';
  }
  const plaintext = sealedApplicants.unseal(keyRing, sealed, id, retailerId);
  const { id: keyId, dataKey } = await makeKey(tx, { keyRing, newId }, applicant, clock());
  const message = fromBinary(ApplicantSchema, plaintext);
  await setApplicantSealed(tx, id, keyId, sealApplicant(dataKey, message, retailerId));
  return 'converted';
}

async function convertExport(
  tx: Queryable,
  { keyRing }: ConvertDeps,
  { id, applicationId, retailerId, sealed }: SealedInRow,
): Promise<'converted' | 'waiting'> {
  const context = sealedExports.context(id, retailerId);
  const text = unseal(keyRing, sealed, context);
  const keys = await findDataKeys(tx, keyRing, applicationId, retailerId);
  if (keys === undefined) return 'waiting';
  await setExportSealed(tx, id, keys === 'destroyed' ? null : sealWithKeys(keys, text, context));
  return 'converted';
}
