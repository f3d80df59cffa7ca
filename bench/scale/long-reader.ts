/** Webhooks while a transaction keeps a snapshot of each database for ten minutes, and before and after it; takes 14 minutes. */
import pg from 'pg';
import { makeDeliveryOperation } from '../load/delivery.ts';
import type { Latency } from '../load/latency.ts';
import { runAtFixedRate } from '../load/load-patterns.ts';
import { openReceiver } from '../load/webhook-receiver.ts';
import { startScalePlatform } from '../platform/scale-platform.ts';
import { measureScale, type Scale } from '../scale-subject.ts';

const PER_SECOND = 100;
/** Each gets a decision in 26 seconds: PostgreSQL visits the versions of its rows since the snapshot, one by one. */
const APPLICATIONS = 2_560;
const WARM_UP_MS = 1_000;
const MINUTE_MS = 60_000;
const MINUTES_OPEN = 10;
/** How many times as late the webhooks may come in the last minute of the snapshots. */
const MAX_RATIO = 1.5;
/** And after the minute in which what the snapshots have kept is removed. */
const MAX_RATIO_AFTER = 1.1;

async function measure(scale: Scale): Promise<void> {
  const receiver = await openReceiver(scale);
  const platform = await startScalePlatform(scale, receiver.url);
  const deliver = await makeDeliveryOperation(platform, receiver, APPLICATIONS);
  const measureMinute = async (name: string): Promise<Latency> => {
    const load = { perSecond: PER_SECOND, warmUpMs: WARM_UP_MS, measureMs: MINUTE_MS };
    const { latencyMs } = await runAtFixedRate(deliver, load);
    scale.print(`${name}: p50 ${latencyMs.p50.toFixed(1)} ms, p99 ${latencyMs.p99.toFixed(1)} ms`);
    return latencyMs;
  };

  // The first one makes connections and plans.
  await measureMinute('first minute');
  const before = await measureMinute('before');
  const end = await openSnapshots(platform.databaseUrls);
  let during = before;
  for (let minute = 1; minute <= MINUTES_OPEN; minute += 1)
    during = await measureMinute(`minute ${minute} of the snapshots`);
  await end();
  await measureMinute('the minute after them');
  const after = await measureMinute('after');

  scale.limit('p50 in the last minute by that before', during.p50 / before.p50, MAX_RATIO);
  scale.limit('p50 after by that before', after.p50 / before.p50, MAX_RATIO_AFTER);
}

/** Begins a transaction in each database, from whose snapshot on no dead row can be removed; resolves to their end. */
async function openSnapshots(urls: Readonly<Record<string, string>>): Promise<() => Promise<void>> {
  const clients = Object.values(urls).map(
    (connectionString) => new pg.Client({ connectionString }),
  );
  for (const client of clients) {
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SELECT count(*) FROM pg_class');
  }
  return async () => {
    for (const client of clients) await client.end();
  };
}

await measureScale(measure);
