import { inboxByDayMigrations } from '@creditlane/messaging/inbox-by-day';
import { reconciliation1764700000001 } from './0010-reconciliation.ts';

/** The inbox is partitioned by day; earlier versions that know its columns can use it. */
export const inboxByDay = inboxByDayMigrations(reconciliation1764700000001);
