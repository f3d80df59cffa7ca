// Waits until the events and webhooks of a platform in several processes are handled.
import { setTimeout as delay } from 'node:timers/promises';
import { areEventsHandled, readWrittenEvents } from '@creditlane/messaging/event-progress';
import { hasUnpublishedEvents } from '@creditlane/messaging/outbox';
import type { DatabaseUrls } from '@creditlane/platform/databases';
import { consumersOf, SERVICES, sortByEventFlow } from '@creditlane/platform/services';
import type { AnyService } from '@creditlane/service/define-service';
import { hasUnsettledDeliveries } from '@creditlane/webhook-dispatcher/store/unsettled';
import pg from 'pg';

const POLL_MS = 50;

export interface SettledOptions {
  services?: readonly AnyService[];
  /**
   * How many of the newest events of each outbox are checked; all when left out. The last event of each
   * partition must be among them, because events of a partition are handled in order.
   */
  newest?: number;
}

/**
 * Resolves when every event written so far was handled by all of its consumers, and no webhook is under
 * way or due. Reads the databases, because no process knows the work of the others.
 */
export async function untilSettled(
  databaseUrls: DatabaseUrls,
  { services = SERVICES, newest }: SettledOptions = {},
): Promise<void> {
  const pools = Object.entries(databaseUrls).map(([owner, url]) => {
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    pool.on('error', () => undefined); // The next query on it fails, if there is one.
    return [owner, pool] as const;
  });
  const consumers = consumersOf(services);
  const poolOf = (owner: string) => {
    const [, pool] = pools.find(([name]) => name === owner) ?? [];
    if (pool === undefined) throw new Error(`${owner} has no database`);
    return pool;
  };
  const isHandled = async (pool: pg.Pool): Promise<boolean> => {
    if (await hasUnpublishedEvents(pool)) return false;
    for (const { topic, ids } of await readWrittenEvents(pool, newest)) {
      for (const consumer of consumers[topic]) {
        if (!(await areEventsHandled(poolOf(consumer), consumer, ids))) return false;
      }
    }
    return true;
  };
  try {
    for (const { name, publishes } of sortByEventFlow(services)) {
      if (publishes === undefined) continue;
      while (!(await isHandled(poolOf(name)))) await delay(POLL_MS);
    }
    while (await hasUnsettledDeliveries(poolOf('webhook-dispatcher'))) await delay(POLL_MS);
  } finally {
    await Promise.all(pools.map(([, pool]) => pool.end()));
  }
}
