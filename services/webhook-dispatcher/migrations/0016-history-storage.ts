import {
  concurrentIndexMigration,
  sqlMigration,
  validateConstraintMigration,
} from '@creditlane/postgres/sql-migration';
import type { QueryRunner } from 'typeorm';
import { sinceReconciliation } from './0013-delivery-storage.ts';

/** Marks the rows that a table holds: it becomes a partition of one with the same name, as that of the deliveries did. */
function markEarlier(name: string, table: string) {
  return sqlMigration(
    name,
    [
      `ALTER TABLE ${table} ADD COLUMN storage text NOT NULL DEFAULT 'earlier',
         ADD CONSTRAINT ${table}_storage CHECK (storage = 'earlier') NOT VALID`,
    ],
    [`ALTER TABLE ${table} DROP COLUMN storage`],
    sinceReconciliation,
  );
}

const INDEX = 'deliveries_earlier_leased';
const LeasedOfEarlier = concurrentIndexMigration(
  'EarlierLeased1765500000000',
  INDEX,
  `deliveries_earlier (next_attempt_at) WHERE state = 'due' AND leased`,
);

/** Serves the search for leases that have ended, which otherwise reads all that is due there; a new database has no such table. */
class EarlierLeased1765500000000 extends LeasedOfEarlier {
  override async up(runner: QueryRunner): Promise<void> {
    const [found] = await runner.query(
      `SELECT to_regclass('deliveries_earlier') IS NOT NULL AS exists`,
    );
    if (found.exists) await super.up(runner);
  }
}

export const historyStorage = [
  EarlierLeased1765500000000,
  markEarlier('AttemptStorage1765500000001', 'attempts'),
  validateConstraintMigration(
    'ValidAttemptStorage1765500000002',
    ['attempts', 'attempts_storage'],
    sinceReconciliation,
  ),
  markEarlier('MessageStorage1765500000003', 'messages'),
  validateConstraintMigration(
    'ValidMessageStorage1765500000004',
    ['messages', 'messages_storage'],
    sinceReconciliation,
  ),
];
