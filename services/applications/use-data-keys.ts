/** The command `--use-data-keys`, which is run when no replica of a version without data keys of applicants is left. */
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type { CommandContext } from '@creditlane/service/service-command';
import {
  CONVERTED_TABLES,
  type ConvertDeps,
  type ConvertedTable,
  convertSealedRows,
} from './applicant/convert-sealed-rows.ts';
import { KeyUse } from './applicant/key-use.ts';
import type { SETTINGS } from './settings.ts';
import { countSealedInRows } from './store/sealed-in-rows.ts';

type Context = Pick<CommandContext<typeof SETTINGS>, 'database' | 'print'> & {
  settings: Pick<CommandContext<typeof SETTINGS>['settings'], 'keyRing'>;
};

/**
 * Begins to use data keys of applicants, and seals with them what a version without them has sealed. Prints of each table
 * what it did; false when any row is left.
 */
export async function useDataKeys({ settings, database, print }: Context): Promise<boolean> {
  const { pool } = database;
  const { keyRing } = settings;
  await new KeyUse(pool).begin();
  const deps = { pool, keyRing, clock: systemClock, newId };
  let isDone = true;
  for (const table of CONVERTED_TABLES) {
    const { converted, left } = await convertTable(deps, table);
    print({ table, converted, left });
    if (left > 0) isDone = false;
  }
  return isDone;
}

/** Longer than another process takes to convert a slice. */
const RECHECK_MS = 500;
const MAX_LEFT_COUNTED = 1_000_000;

/** Converts until no row is left, or a repetition after a pause converts none: the others are damaged, or locked all the time. */
async function convertTable(
  deps: ConvertDeps,
  table: ConvertedTable,
): Promise<{ converted: number; left: number }> {
  let total = 0;
  for (let isRepetition = false; ; isRepetition = true) {
    const { converted } = await convertSealedRows(deps, table);
    total += converted;
    const left = await countSealedInRows(deps.pool, table, MAX_LEFT_COUNTED);
    if (left === 0 || (isRepetition && converted === 0)) return { converted: total, left };
    await delay(RECHECK_MS);
  }
}
