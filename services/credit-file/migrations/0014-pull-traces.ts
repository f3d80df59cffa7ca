import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** The trace of the request that made the pull; null without one, and for pulls of the version before. */
export const pullTraces1764970000000 = sqlMigration('PullTraces1764970000000', {
  up: ['ALTER TABLE pulls ADD COLUMN traceparent text'],
  compatibility: 'only adds',
});
