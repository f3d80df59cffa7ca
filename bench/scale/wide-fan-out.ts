/** 500 events that were queued, on one creditor's submissions of 250 retailers, go to 400 integrations. */
import { setTimeout as delay } from 'node:timers/promises';
import { setDemoDestination } from '@creditlane/local/demo/demo';
import { newId } from '@creditlane/runtime/ids';
import pg from 'pg';
import { runSql } from '../data/sql.ts';
import { startCountingReceiver } from '../load/counting-receiver.ts';
import { openReceiver } from '../load/webhook-receiver.ts';
import { type WritableSubmission, writeDecision } from '../load/write-decision.ts';
import { startScalePlatform } from '../platform/scale-platform.ts';
import { measureScale, type Scale } from '../scale-subject.ts';

const INTEGRATIONS = 400;
const RETAILERS = 250;
const EVENTS = 500;
/** A relay publishes for 3 s after it has renewed its lease. */
const RELAY_ENDS_MS = 5_000;
/** From the end of the outage: until every event has been handled, and until every webhook has come. */
const MAX_INTAKE_MS = 60_000;
const MAX_DELIVERY_MS = 200_000;

async function measure(scale: Scale): Promise<void> {
  const first = await openReceiver(scale);
  const receiver = await startCountingReceiver(scale);
  const platform = await startScalePlatform(scale, first.url);
  const { baseUrl, platformKey, databaseUrls } = platform;
  await writeDecision(baseUrl, platform, 'first');
  await platform.settled();

  scale.print(`setting ${INTEGRATIONS} destinations`);
  for (const integrationId of await insertIntegrations(platform)) {
    await setDemoDestination({ baseUrl, platformKey, inboxUrl: receiver.url }, integrationId);
  }
  const submissions = await insertSubmissions(platform);

  const release = await holdRelay(databaseUrls.decisions);
  await delay(RELAY_ENDS_MS);
  const requestsBefore = receiver.requests;
  const countMessages = async () => {
    const text = 'SELECT count(*)::int AS count FROM messages';
    const [row] = await runSql(databaseUrls['webhook-dispatcher'], text);
    return Number(row?.count);
  };
  const messagesBefore = await countMessages();
  for (let n = 0; n < EVENTS; n += 1) {
    await writeDecision(baseUrl, submissions[n % RETAILERS] as WritableSubmission, `m${n}`);
  }
  const releasedMs = performance.now();
  await release();
  const expected = EVENTS * INTEGRATIONS;
  const intakeMs = await untilTrue(
    MAX_INTAKE_MS * 2,
    releasedMs,
    async () => (await countMessages()) - messagesBefore >= EVENTS,
  );
  scale.limit(
    `intake of ${EVENTS} events with ${expected} deliveries`,
    intakeMs,
    MAX_INTAKE_MS,
    'ms',
  );
  const deliveredMs = await untilTrue(
    MAX_DELIVERY_MS,
    releasedMs,
    async () => receiver.requests - requestsBefore >= expected,
  );
  scale.limit(`arrival of ${expected} webhooks`, deliveredMs, MAX_DELIVERY_MS, 'ms');
  const arrived = receiver.requests - requestsBefore;
  const watchedMs = Math.min(deliveredMs, MAX_DELIVERY_MS);
  scale.print(`${arrived} arrived, ${Math.round((arrived * 1_000) / watchedMs)} a second`);
  const [dead] = await runSql(
    databaseUrls['webhook-dispatcher'],
    'SELECT count(*)::int AS count FROM dead_letters',
  );
  scale.limit('dead letters', Number(dead?.count), 0);
}

/** Milliseconds since `sinceMs` until the condition holds; infinite after `limitMs`. */
async function untilTrue(limitMs: number, sinceMs: number, condition: () => Promise<boolean>) {
  while (performance.now() - sinceMs < limitMs) {
    if (await condition()) return performance.now() - sinceMs;
    await delay(250);
  }
  return Number.POSITIVE_INFINITY;
}

type Platform = Awaited<ReturnType<typeof startScalePlatform>>;

/** Integrations that are granted the creditor of the platform's key. */
async function insertIntegrations({ databaseUrls, creditorId }: Platform): Promise<string[]> {
  const ids = Array.from({ length: INTEGRATIONS }, () => newId());
  await runSql(
    databaseUrls.integrations,
    `WITH integration AS (
       INSERT INTO integrations (id, name, permissions, created_at)
       SELECT id, 'measured', '{}', now() FROM unnest($1::uuid[]) AS id
     )
     INSERT INTO creditor_grants (integration_id, creditor_id, granted_at)
     SELECT id, $2, now() FROM unnest($1::uuid[]) AS id`,
    [ids, creditorId],
  );
  return ids;
}

/** Submissions to one creditor, each of a retailer of its own. */
async function insertSubmissions(platform: Platform): Promise<WritableSubmission[]> {
  const { databaseUrls, key, applicationId, creditorId } = platform;
  const ids = () => Array.from({ length: RETAILERS }, () => newId());
  const [applicationIds, retailerIds] = [ids(), ids()];
  await runSql(
    databaseUrls.decisions,
    `INSERT INTO submissions
     SELECT row.* FROM unnest($3::uuid[], $4::uuid[]) AS new (application_id, retailer_id)
     CROSS JOIN (
       SELECT to_jsonb(s) AS original FROM submissions AS s
       WHERE application_id = $1 AND creditor_id = $2
     ) AS found
     CROSS JOIN LATERAL jsonb_populate_record(NULL::submissions, original || to_jsonb(new)) AS row`,
    [applicationId, creditorId, applicationIds, retailerIds],
  );
  return applicationIds.map((id) => ({ key, applicationId: id, creditorId }));
}

/** Keeps the relay from publishing until the returned function is called. */
async function holdRelay(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE outbox_lease IN ACCESS EXCLUSIVE MODE');
  return async () => {
    await client.query('COMMIT');
    await client.end();
  };
}

await measureScale(measure);
