import { setTimeout as delay } from 'node:timers/promises';
import { TOPICS, type Topic } from '@creditlane/events/topics';
import type { DatabaseOwner } from '@creditlane/local/services';
import { hasUnpublishedEvents } from '@creditlane/messaging/outbox-rows';
import { findUnsettled } from '@creditlane/webhook-dispatcher/store/deliveries';
import pg from 'pg';

type Databases = Record<DatabaseOwner, pg.Pool>;

const POLL_MS = 50;
/** In the order in which an event travels. */
const PUBLISHERS = ['applications', 'decisions'] as const satisfies DatabaseOwner[];

/**
 * Resolves when every event written so far was handled by all who consume it, and no webhook is under
 * way or due. It looks into the databases: what each process says of itself is not the whole. Where
 * events are too many to ask for each, `newest` of every outbox stand for all: enough for each
 * partition's last to be among them.
 */
export async function untilSettled(
  databaseUrls: Record<DatabaseOwner, string>,
  newest?: number,
): Promise<void> {
  const pools = Object.entries(databaseUrls).map(([owner, url]) => {
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    pool.on('error', () => undefined); // What is asked next meets it, if anything is.
    return [owner, pool] as const;
  });
  const databases = Object.fromEntries(pools) as Databases;
  try {
    for (const publisher of PUBLISHERS) {
      while (!(await isHandled(publisher, databases, newest))) await delay(POLL_MS);
    }
    while ((await findUnsettled(databases['webhook-dispatcher'])).due) await delay(POLL_MS);
  } finally {
    await Promise.all(pools.map(([, pool]) => pool.end()));
  }
}

async function isHandled(
  publisher: DatabaseOwner,
  databases: Databases,
  newest?: number,
): Promise<boolean> {
  if (await hasUnpublishedEvents(databases[publisher])) return false;
  const { rows } = await databases[publisher].query<{ topic: Topic; ids: string[] }>(
    `SELECT topic, array_agg(event_id) AS ids
     FROM (SELECT topic, event_id FROM outbox ORDER BY id DESC LIMIT $1) AS written GROUP BY topic`,
    // SQL takes no limit for all.
    [newest ?? null],
  );
  for (const { topic, ids } of rows) {
    for (const consumer of TOPICS[topic].consumers) {
      const { rowCount } = await databases[consumer].query(
        `SELECT id FROM unnest($2::uuid[]) AS id
         WHERE NOT EXISTS (SELECT FROM inbox WHERE consumer = $1 AND event_id = id)
           AND NOT EXISTS (SELECT FROM dead_letters
             WHERE consumer = $1 AND headers ->> 'ce_id' = id::text)
         LIMIT 1`,
        [consumer, ids],
      );
      if (rowCount !== 0) return false;
    }
  }
  return true;
}
