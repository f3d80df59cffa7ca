/** The relay and the dispatcher, each by itself: all that it is to hand on is there before it begins. */
import type { Apart } from '../data/separate-databases.ts';
import { run } from '../data/submissions.ts';
import type { BenchPlatform } from '../platform/bench-platform.ts';

export interface Stages {
  events: number;
  /** From the outbox to Kafka, once warm. */
  relayPerSecond: number | undefined;
  /** From Kafka to a receiver that answers at once, once warm. */
  dispatcherPerSecond: number;
}

/** Before the names of the topics that the two share, with nobody else. */
const PREFIX = 'apart.';
/** Of the events, to be measured by nobody: a program's first seconds are its compiler's. */
const WARM_UP_SHARE = 0.25;

/**
 * Hands on the events of the decisions that were written apart: at most one of each application, as
 * others of it would wait for their turn.
 */
export async function measureStages(world: BenchPlatform, apart: Apart): Promise<Stages> {
  const { fleet, outside } = world;
  if (fleet === undefined) throw new Error('only services by themselves can work alone');
  const { databaseUrls, applicationIds } = apart;
  const outboxUrl = databaseUrls.decisions;
  const events = await keepNewest(outboxUrl, applicationIds.length);

  const all = { databaseUrls, prefix: PREFIX };
  await fleet.call('startAlone', { ...all, service: 'decisions' });
  await untilPublished(outboxUrl);
  await fleet.call('stopAlone', undefined);
  const relayPerSecond = await publishedPerSecond(outboxUrl);

  const received = outside.call('receive', { count: events, skip: events * WARM_UP_SHARE });
  await fleet.call('startAlone', { ...all, service: 'webhook-dispatcher' });
  const dispatcherPerSecond = await received;
  await fleet.call('stopAlone', undefined);
  return { events, relayPerSecond, dispatcherPerSecond };
}

/** Drops all events but the newest; gives how many there are then. */
async function keepNewest(url: string, count: number): Promise<number> {
  await run(
    url,
    'DELETE FROM outbox WHERE id <= (SELECT id FROM outbox ORDER BY id DESC LIMIT 1 OFFSET $1)',
    [count],
  );
  await run(url, 'VACUUM (ANALYZE) outbox');
  const [row] = await run(url, 'SELECT count(*)::int AS count FROM outbox');
  return Number(row?.count);
}

async function untilPublished(url: string): Promise<void> {
  for (let any: unknown = true; any; ) {
    const rows = await run(
      url,
      `SELECT EXISTS (SELECT FROM outbox WHERE published_at IS NULL) AS any, pg_sleep(0.1)`,
    );
    any = rows[0]?.any;
  }
}

/** By the times at which events were marked; undefined where all were before there was a rate. */
async function publishedPerSecond(url: string): Promise<number | undefined> {
  const [row] = await run(
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
