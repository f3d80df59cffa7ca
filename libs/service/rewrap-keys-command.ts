/** The command that ends a rotation of the key ring, the same for every service that seals records. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { KEY_RING } from '@creditlane/crypto/key-ring-setting';
import { rewrapTables, type SealedTable } from '@creditlane/crypto/rotation';
import type { Database } from '@creditlane/postgres/database';
import type { ServiceCommand } from './service-command.ts';

/** Wraps the records of the tables with the current key, and prints of each table how many it wrapped. */
export function rewrapKeysCommand(
  tablesOf: (pool: Database['pool'], keyRing: KeyRing) => readonly SealedTable[],
): ServiceCommand<{ keyRing: typeof KEY_RING }> {
  return {
    options: {},
    run: ({ settings: { keyRing }, database, print }) =>
      rewrapTables(keyRing, tablesOf(database.pool, keyRing), print),
  };
}
