/** A destination with 500,000 pending deliveries, beside 20,000,000 kept ones, answers 410 while another one receives webhooks. */
import { setTimeout as delay } from 'node:timers/promises';
import { setDemoDestination } from '@creditlane/local/demo/demo';
import { insertKeptHistory, KEPT_DAYS } from '../data/kept-history.ts';
import { runSql } from '../data/sql.ts';
import { startCountingReceiver } from '../load/counting-receiver.ts';
import { type Latency, summarizeTimes } from '../load/latency.ts';
import { openReceiver, type WebhookReceiver } from '../load/webhook-receiver.ts';
import { type WritableSubmission, writeDecision } from '../load/write-decision.ts';
import { startScalePlatform } from '../platform/scale-platform.ts';
import { measureScale, type Scale } from '../scale-subject.ts';

const PENDING = 500_000;
const KEPT_PER_DAY = 666_670;
/** How long webhooks are measured before the 410, and at least after it. */
const PHASE_MS = 10_000;
const WRITE_EVERY_MS = 50;
/** How much slower than the slowest webhook before the 410 one of another destination may be. */
const MAX_ADDED_MS = 1_000;
/** How long the ending is watched, and a webhook awaited: one that comes later counts as never. */
const WATCHED_MS = 600_000;

async function measure(scale: Scale): Promise<void> {
  const receiver = await openReceiver(scale);
  const gone = await startCountingReceiver(scale);
  const platform = await startScalePlatform(scale, receiver.url);
  const { otherTenant, databaseUrls, baseUrl } = platform;
  await setDemoDestination({ ...platform, inboxUrl: gone.url }, otherTenant.integrationId);
  await writeDecision(baseUrl, platform, 'first');
  await writeDecision(baseUrl, otherTenant, 'first');
  await platform.settled();
  const url = databaseUrls['webhook-dispatcher'];

  scale.print(
    `inserting ${KEPT_DAYS} days of ${KEPT_PER_DAY} deliveries, and ${PENDING} pending ones`,
  );
  await insertKeptHistory(databaseUrls, { days: KEPT_DAYS, perDay: KEPT_PER_DAY });
  await insertPending(url);
  await runSql(url, 'VACUUM (ANALYZE) deliveries');
  await runSql(platform.adminUrl, 'CHECKPOINT');

  const began = performance.now();
  const before = await writeWhile(platform, receiver, 'before', () => elapsed(began) < PHASE_MS);
  gone.answerWith(410);
  await writeDecision(baseUrl, otherTenant, 'gone');
  const goneMs = performance.now();
  const ending = untilEnded(url, goneMs + WATCHED_MS);
  let isEnding = true;
  void ending.finally(() => {
    isEnding = false;
  });
  const isWatched = () => isEnding || elapsed(goneMs) < PHASE_MS;
  const after = await writeWhile(platform, receiver, 'after', isWatched);

  for (const [name, { p50, p99 }] of Object.entries({ before, after })) {
    scale.print(`webhooks of another destination ${name}: p50 ${p50} ms, p99 ${p99} ms`);
  }
  scale.limit('slowest webhook of another destination', after.max, before.max + MAX_ADDED_MS, 'ms');
  scale.limit('all pending deliveries ended after', (await ending) - goneMs, WATCHED_MS, 'ms');
}

const elapsed = (sinceMs: number) => performance.now() - sinceMs;

/** Writes decisions at a fixed rate, and measures the time from each write to the arrival of its webhook. */
async function writeWhile(
  tenant: WritableSubmission & { baseUrl: string },
  receiver: WebhookReceiver,
  name: string,
  isWatched: () => boolean,
): Promise<Latency> {
  const arrivals: Promise<number>[] = [];
  while (isWatched()) {
    const marker = `${name}-${arrivals.length}`;
    const writtenMs = performance.now();
    const arrived = Promise.race([
      receiver.waitFor(marker),
      delay(WATCHED_MS, Infinity, { ref: false }),
    ]);
    arrivals.push(arrived.then((atMs) => Math.round(atMs - writtenMs)));
    await writeDecision(tenant.baseUrl, tenant, marker);
    await delay(WRITE_EVERY_MS);
  }
  return summarizeTimes(await Promise.all(arrivals));
}

/**
 * Inserts copies of the last delivery, which is the other tenant's: half of them wait behind the other half, whose next
 * attempts are tomorrow.
 */
async function insertPending(url: string) {
  await runSql(
    url,
    `INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, leased,
       fence, attempts, next_attempt_at, created_at, storage)
     SELECT gen_random_uuid(), gen_random_uuid(), last.destination_id,
       (to_char(n / 2, 'FM000000000000') || '70008000000000000000')::uuid, n % 2 + 1,
       CASE WHEN n % 2 = 1 THEN 'waiting' ELSE 'due' END, false, 1, 1,
       CASE WHEN n % 2 = 0 THEN now() + interval '1 day' END, now() - interval '1 hour', 'queue'
     FROM generate_series(0, $1::int - 1) AS n
     CROSS JOIN (SELECT * FROM deliveries ORDER BY created_at DESC LIMIT 1) AS last`,
    [PENDING],
  );
}

/** When no delivery to the disabled destination is pending, by performance.now(). */
async function untilEnded(url: string, deadlineMs: number): Promise<number> {
  while (performance.now() < deadlineMs) {
    const [row] = await runSql(
      url,
      `SELECT EXISTS (SELECT FROM destination_states WHERE disabled_at IS NOT NULL)
         AND NOT EXISTS (SELECT FROM deliveries WHERE state IN ('waiting', 'due')
           AND destination_id = (SELECT destination_id FROM destination_states
             WHERE disabled_at IS NOT NULL)) AS ended`,
    );
    if (row?.ended) return performance.now();
    await delay(100);
  }
  return Number.POSITIVE_INFINITY;
}

await measureScale(measure);
