/** 1,000 of 10,000 destinations hang: how much later the webhooks of the others come. */
import { setTimeout as delay } from 'node:timers/promises';
import { setDemoDestination } from '@creditlane/local/demo/demo';
import { newId } from '@creditlane/runtime/ids';
import { runSql } from '../data/sql.ts';
import { startCountingReceiver } from '../load/counting-receiver.ts';
import { runAtFixedRate } from '../load/load-patterns.ts';
import { openReceiver } from '../load/webhook-receiver.ts';
import { type WritableSubmission, writeDecision } from '../load/write-decision.ts';
import { startScalePlatform } from '../platform/scale-platform.ts';
import { measureScale, type Scale } from '../scale-subject.ts';

const DESTINATIONS = 10_000;
const HANGING = DESTINATIONS / 10;
/** To the destinations that go on answering: few enough that a slow machine has a core to spare before they hang. */
const PER_SECOND = 60;
/** To those that hang, in turns, so that each gets one or two. */
const HANGING_PER_SECOND = 25;
const MEASURE_MS = 60_000;
const CALLERS = 8;
/** A webhook that has not come by then counts as this late. */
const WATCHED_MS = 60_000;
/** How many times as late the webhooks of the others may come. */
const MAX_RATIO = 2;

async function measure(scale: Scale): Promise<void> {
  const receiver = await openReceiver(scale);
  const hangingReceiver = await startCountingReceiver(scale);
  const platform = await startScalePlatform(scale, receiver.url);
  const { baseUrl } = platform;
  await writeDecision(baseUrl, platform, 'first');
  await platform.settled();

  scale.print(`setting ${DESTINATIONS} destinations`);
  const submissions = await insertSubmissions(platform);
  await setDestinations(platform, submissions, (n) =>
    n < HANGING ? hangingReceiver.url : receiver.url,
  );
  const hanging = submissions.slice(0, HANGING);
  const others = submissions.slice(HANGING);

  let written = 0;
  const deliver = async () => {
    const marker = `m${written++}`;
    const arrived = receiver.waitFor(marker);
    await writeDecision(baseUrl, anyOf(others), marker);
    const late = delay(WATCHED_MS, undefined, { ref: false }).then(() => performance.now());
    return Promise.race([arrived, late]);
  };
  let turn = 0;
  const deliverToHanging = async () => {
    await writeDecision(baseUrl, hanging[turn++ % HANGING] as OwnSubmission, 'hanging');
    return performance.now();
  };
  const run = async (warmUpMs: number) => {
    const rates = { warmUpMs, measureMs: MEASURE_MS };
    const [{ latencyMs }] = await Promise.all([
      runAtFixedRate(deliver, { perSecond: PER_SECOND, ...rates }),
      runAtFixedRate(deliverToHanging, { perSecond: HANGING_PER_SECOND, ...rates }),
    ]);
    return latencyMs;
  };
  const before = await run(10_000);
  const answered = hangingReceiver.requests;
  hangingReceiver.answerWith(undefined);
  const beside = await run(0);

  for (const [name, { p50, p99, max }] of Object.entries({ before, beside })) {
    scale.print(`webhooks of the others ${name}: p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`);
  }
  scale.print(`requests to those that hang: ${hangingReceiver.requests - answered}`);
  scale.limit('p99 of the others, times that before', beside.p99 / before.p99, MAX_RATIO);
}

function anyOf<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}

/** Calls `step` for each item, CALLERS of them at a time. */
async function inTurns<T>(items: readonly T[], step: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const call = async () => {
    for (const item of left) await step(item);
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
}

type Platform = Awaited<ReturnType<typeof startScalePlatform>>;
type OwnSubmission = WritableSubmission & { integrationId: string };

/**
 * Inserts submissions to creditors of their own, each granted to an integration of its own. The integration of the
 * platform's key, which records the decisions, may write to all of them.
 */
async function insertSubmissions(platform: Platform): Promise<OwnSubmission[]> {
  const { databaseUrls, key, applicationId, creditorId, integrationId: writerId } = platform;
  const ids = () => Array.from({ length: DESTINATIONS }, () => newId());
  const [applicationIds, creditorIds, integrationIds] = [ids(), ids(), ids()];
  await runSql(
    databaseUrls.integrations,
    `WITH integration AS (
       INSERT INTO integrations (id, name, permissions, created_at)
       SELECT id, 'measured', '{}', now() FROM unnest($1::uuid[]) AS id
     )
     INSERT INTO creditor_grants (integration_id, creditor_id, granted_at)
     SELECT * FROM (
       SELECT unnest($1::uuid[]), unnest($2::uuid[]) UNION ALL SELECT $3, unnest($2::uuid[])
     ) AS granted, now()`,
    [integrationIds, creditorIds, writerId],
  );
  await runSql(
    databaseUrls.decisions,
    `INSERT INTO submissions
     SELECT row.* FROM unnest($3::uuid[], $4::uuid[]) AS new (application_id, creditor_id)
     CROSS JOIN (
       SELECT to_jsonb(s) AS original FROM submissions AS s
       WHERE application_id = $1 AND creditor_id = $2
     ) AS found
     CROSS JOIN LATERAL jsonb_populate_record(NULL::submissions, original || to_jsonb(new)) AS row`,
    [applicationId, creditorId, applicationIds, creditorIds],
  );
  return integrationIds.map((integrationId, n) => ({
    key,
    integrationId,
    applicationId: applicationIds[n] ?? '',
    creditorId: creditorIds[n] ?? '',
  }));
}

/** Sets the destination of each submission's integration, and removes the one of the writing integration. */
async function setDestinations(
  platform: Platform,
  submissions: readonly OwnSubmission[],
  urlOf: (n: number) => string,
): Promise<void> {
  const { baseUrl, platformKey, integrationId } = platform;
  await inTurns([...submissions.entries()], ([n, submission]) =>
    setDemoDestination({ baseUrl, platformKey, inboxUrl: urlOf(n) }, submission.integrationId),
  );
  const removed = await fetch(`${baseUrl}/platform/integrations/${integrationId}/destination`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${platformKey}` },
  });
  if (!removed.ok) throw new Error(`the removal of a destination was answered ${removed.status}`);
}

await measureScale(measure);
