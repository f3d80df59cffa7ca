import { concurrentIndexMigration } from '@creditlane/postgres/sql-migration';
import type { QueryRunner } from 'typeorm';
import { markEarlier } from './0013-delivery-storage.ts';

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
  ...markEarlier('attempts', {
    marked: 'AttemptStorage1765500000001',
    validated: 'ValidAttemptStorage1765500000002',
  }),
  ...markEarlier('messages', {
    marked: 'MessageStorage1765500000003',
    validated: 'ValidMessageStorage1765500000004',
  }),
];
