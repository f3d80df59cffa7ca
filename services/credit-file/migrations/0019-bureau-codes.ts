import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** The bureau's code for why it refused an inquiry; null without one, and for pulls of the version before. */
export const bureauCodes1766000000000 = sqlMigration('BureauCodes1766000000000', {
  up: ['ALTER TABLE pulls ADD COLUMN bureau_code text'],
  compatibility: 'only adds',
});
