import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * The event filter of a destination: the names of the webhooks that it gets; null where it gets all. `events_revision` is
 * the revision that the filter was set with: an earlier version writes neither, so that a destination which it sets gets
 * all webhooks.
 */
export const eventFilters1766300000000 = sqlMigration('EventFilters1766300000000', {
  up: ['ALTER TABLE destinations ADD COLUMN events text[], ADD COLUMN events_revision integer'],
  compatibility: 'only adds',
});
