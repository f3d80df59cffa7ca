/** The command `--rewrap-keys`, which is run when no replica of an earlier version or ring is left. */
import { rewrapTables } from '@creditlane/crypto/rotation';
import { systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type { CommandContext } from '@creditlane/service/service-command';
import { convertSealedRows } from './applicant/convert-sealed-rows.ts';
import { KeyUse } from './applicant/key-use.ts';
import type { SETTINGS } from './settings.ts';
import { sealedTables } from './store/sealed-tables.ts';

type Context = Pick<CommandContext<typeof SETTINGS>, 'database' | 'print'> & {
  settings: Pick<CommandContext<typeof SETTINGS>['settings'], 'keyRing'>;
};

/**
 * Begins to use data keys of applicants, seals with them what a version without them has sealed, and wraps the keys with
 * the current key of the ring. Prints of each table what it did; false when any record is left.
 */
export async function rewrapKeys({ settings, database, print }: Context): Promise<boolean> {
  const { pool } = database;
  const { keyRing } = settings;
  await new KeyUse(pool).begin();
  const deps = { pool, keyRing, clock: systemClock, newId };
  for (const table of ['applicants', 'exports'] as const) {
    print({ table, ...(await convertSealedRows(deps, table)) });
  }
  return rewrapTables(keyRing, sealedTables(pool), print);
}
