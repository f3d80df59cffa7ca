import { outboxByDayMigrations } from '@creditlane/messaging/outbox-by-day';
import { rowSecurity1764600000000 } from './0004-row-security.ts';

/** The outbox is partitioned by day; earlier versions whose requests may add to it can use it. */
export const outboxByDay = outboxByDayMigrations(rowSecurity1764600000000);
