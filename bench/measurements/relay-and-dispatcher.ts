/** The relay and the dispatcher, each alone: all of its input is there before it starts. */
import type { SeparateDatabases } from '../data/separate-databases.ts';
import { runSql } from '../data/sql.ts';
import type { BenchPlatform } from '../platform/bench-platform.ts';

export interface Stages {
  events: number;
  /** From the outbox to Kafka, after the warm-up. */
  relayPerSecond: number | undefined;
  /** From Kafka to a receiver that answers at once, after the warm-up. */
  dispatcherPerSecond: number;
}

/** Prefix of the topics that only these two processes use. */
const TOPIC_PREFIX = 'separate.';
/** The first quarter of the events is not measured: V8 compiles meanwhile. */
const WARM_UP_SHARE = 0.25;

/**
 * Publishes and delivers the events of the decisions in the separate databases. At most one event per
 * application is used, because several of one application would wait for each other in their lane.
 */
export async function measureStages(
  { processesWorker, loadWorker }: BenchPlatform,
  { databaseUrls, applicationIds }: SeparateDatabases,
): Promise<Stages> {
  if (processesWorker === undefined) throw new Error('stages need the run mode "processes"');
  const outboxUrl = databaseUrls.decisions;
  const events = await deleteAllButNewest(outboxUrl, applicationIds.length);

  const settings = { databaseUrls, topicPrefix: TOPIC_PREFIX };
  await processesWorker.call('startSeparateService', { ...settings, service: 'decisions' });
  await waitUntilPublished(outboxUrl);
  await processesWorker.call('stopSeparateService', undefined);
  const relayPerSecond = await readPublishRate(outboxUrl);

  const skip = events * WARM_UP_SHARE;
  const received = loadWorker.call('receiveRate', { count: events, skip });
  await processesWorker.call('startSeparateService', {
    ...settings,
    service: 'webhook-dispatcher',
  });
  const dispatcherPerSecond = await received;
  await processesWorker.call('stopSeparateService', undefined);
  return { events, relayPerSecond, dispatcherPerSecond };
}

/** Deletes all events but the newest `count`; returns how many there are afterwards. */
async function deleteAllButNewest(url: string, count: number): Promise<number> {
  await runSql(
    url,
    'DELETE FROM outbox WHERE id <= (SELECT id FROM outbox ORDER BY id DESC LIMIT 1 OFFSET $1)',
    [count],
  );
  await runSql(url, 'VACUUM (ANALYZE) outbox');
  const [row] = await runSql(url, 'SELECT count(*)::int AS count FROM outbox');
  return Number(row?.count);
}

async function waitUntilPublished(url: string): Promise<void> {
  for (let any: unknown = true; any; ) {
    const rows = await runSql(
      url,
      `SELECT EXISTS (SELECT FROM outbox WHERE published_at IS NULL) AS any, pg_sleep(0.1)`,
    );
    any = rows[0]?.any;
  }
}

/** By the times at which events were marked; undefined when all were marked at the same time. */
async function readPublishRate(url: string): Promise<number | undefined> {
  const [row] = await runSql(
    url,
    `WITH span AS (
       SELECT percentile_disc($1::float8) WITHIN GROUP (ORDER BY published_at) AS warm,
         max(published_at) AS last
       FROM outbox
     )
     SELECT count(*) / extract(epoch FROM min(last - warm))::float8 AS rate
     FROM outbox, span WHERE published_at > warm`,
    [WARM_UP_SHARE],
  );
  return typeof row?.rate === 'number' ? row.rate : undefined;
}
