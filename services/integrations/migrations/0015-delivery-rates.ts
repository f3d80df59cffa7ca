import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * The rate limit of a destination: how many attempts at webhooks may begin in a second; null where there is none. As for event
 * filters, `rate_revision` is the revision that it was set with, so that a destination which an earlier version sets has no limit.
 */
export const deliveryRates1766400000000 = sqlMigration('DeliveryRates1766400000000', {
  up: [
    'ALTER TABLE destinations ADD COLUMN deliveries_per_second integer, ADD COLUMN rate_revision integer',
  ],
  compatibility: 'only adds',
});
