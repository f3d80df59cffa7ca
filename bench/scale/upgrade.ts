/** Newer migrations of a table with 5,000,000 rows run under reads and writes, then the earlier version starts. */
import { setTimeout as delay } from 'node:timers/promises';
import { makeApplication } from '@creditlane/local/demo/demo';
import { SERVICES } from '@creditlane/platform/services';
import { type Migration, migrate } from '@creditlane/postgres/migrate';
import { concurrentIndexMigration, sqlMigration } from '@creditlane/postgres/sql-migration';
import { createLog } from '@creditlane/runtime/telemetry/log';
import pg from 'pg';
import { runSql } from '../data/sql.ts';
import { summarizeTimes } from '../load/latency.ts';
import { openReceiver } from '../load/webhook-receiver.ts';
import { startScalePlatform } from '../platform/scale-platform.ts';
import { measureScale, type Scale } from '../scale-subject.ts';

const ROWS = 5_000_000;
/** Rows of a statement. */
const SLICE = 500_000;
const BEFORE_MS = 10_000;
/** How long a transaction goes on that has read the table when the migrations begin. */
const READER_MS = 10_000;
/** The time between two requests of one kind. */
const EVERY_MS = 100;
const SAMPLE_MS = 10;
/** A migration waits for a lock for 100 ms; the rest is the server's own delay on a busy machine. */
const MAX_WAIT_MS = 250;
const MAX_START_MS = 5_000;

const EARLIER: Migration[] = SERVICES.flatMap((service) =>
  service.name === 'applications' ? [...service.database.migrations] : [],
);

const NEWER = [
  sqlMigration('Channel1999000000000', {
    up: [
      `ALTER TABLE applications ADD COLUMN channel text NOT NULL DEFAULT 'API', ADD COLUMN note text`,
    ],
    compatibility: 'only adds',
  }),
  concurrentIndexMigration(
    'ByChannel1999000000001',
    'applications_by_channel',
    'applications (retailer_id, channel, created_at)',
  ),
];

async function measure(scale: Scale): Promise<void> {
  const receiver = await openReceiver(scale);
  const platform = await startScalePlatform(scale, receiver.url);
  const url = platform.databaseUrls.applications;
  scale.print(`inserting ${ROWS} applications`);
  await insertApplications(platform.adminUrl, url);

  const begun = performance.now();
  report(scale, 'before', await load(platform, () => performance.now() - begun < BEFORE_MS));

  const log = createLog('bench', { level: 'error' });
  const reader = holdTable(url);
  await reader.begun;
  const migrating = migrate(url, [...EARLIER, ...NEWER], log).then(() => performance.now());
  const migrationStart = performance.now();
  let isMigrating = true;
  const end = () => {
    isMigrating = false;
  };
  migrating.then(end, end);
  const waits = sampleLockWaits(url, () => isMigrating);
  const answers = await load(platform, () => isMigrating);
  await reader.ended;
  scale.print(`the migrations took ${Math.round((await migrating) - migrationStart)} ms`);
  report(scale, 'while migrating', answers);
  scale.limit('answers 5xx or none', answers.filter(({ status }) => status >= 500).length, 0);
  scale.limit('longest wait of a read or write for a lock', await waits, MAX_WAIT_MS, 'ms');

  const startedMs = performance.now();
  await migrate(url, EARLIER, log);
  const tookMs = performance.now() - startedMs;
  scale.limit('the earlier version accepts the database after', tookMs, MAX_START_MS, 'ms');
}

/** The status of a request without an answer. */
const NO_ANSWER = 599;

interface Answer {
  kind: string;
  status: number;
  ms: number;
}

type Platform = Awaited<ReturnType<typeof startScalePlatform>>;

/** Reads an application, lists applications and creates one, each at a fixed rate. */
async function load(platform: Platform, isLoaded: () => boolean): Promise<Answer[]> {
  const { baseUrl, key, applicationId, retailerId } = platform;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const kinds = {
    read: () => fetch(`${baseUrl}/applications/${applicationId}`, { headers }),
    list: () =>
      fetch(`${baseUrl}/applications?limit=25`, {
        headers: { ...headers, 'x-service-retailer-id': retailerId },
      }),
    create: () =>
      fetch(`${baseUrl}/applications`, {
        method: 'POST',
        headers,
        body: JSON.stringify(makeApplication(retailerId)),
      }),
  };
  const answers: Promise<Answer>[] = [];
  const ask = async (kind: string, request: () => Promise<Response>): Promise<Answer> => {
    const startedMs = performance.now();
    const status = await request().then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => NO_ANSWER,
    );
    return { kind, status, ms: Math.round(performance.now() - startedMs) };
  };
  while (isLoaded()) {
    for (const [kind, request] of Object.entries(kinds)) answers.push(ask(kind, request));
    await delay(EVERY_MS);
  }
  const all = await Promise.all(answers);
  const refused = all.find(({ status }) => status >= 400 && status < 500);
  if (refused !== undefined) throw new Error(`${refused.kind} was answered ${refused.status}`);
  return all;
}

function report(scale: Scale, when: string, answers: readonly Answer[]): void {
  for (const kind of new Set(answers.map((it) => it.kind))) {
    const times = answers.filter((it) => it.kind === kind).map(({ ms }) => ms);
    const { p50, p99, max } = summarizeTimes(times);
    scale.print(
      `${kind} ${when}: ${times.length} requests, p50 ${p50} ms, p99 ${p99} ms, slowest ${max} ms`,
    );
  }
}

/** A transaction that has read the table and goes on for `READER_MS`. */
function holdTable(url: string): { begun: Promise<unknown>; ended: Promise<void> } {
  const client = new pg.Client({ connectionString: url });
  const begun = client
    .connect()
    .then(() => client.query('BEGIN; SELECT FROM applications LIMIT 1'));
  const ended = begun.then(async () => {
    await delay(READER_MS);
    await client.end();
  });
  return { begun, ended };
}

/** The longest wait, in ms, for a lock that reads and writes take of a table. */
async function sampleLockWaits(url: string, isSampled: () => boolean): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let longestMs = 0;
  while (isSampled()) {
    const { rows } = await client.query(
      `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart) * 1000), 0)::float8 AS ms
       FROM pg_locks WHERE NOT granted AND locktype = 'relation'
         AND mode IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')`,
    );
    longestMs = Math.max(longestMs, rows[0].ms);
    await delay(SAMPLE_MS);
  }
  await client.end();
  return longestMs;
}

/** Inserts copies of the demo's application, for it and 999 other retailers, over the last 1,000 days. */
async function insertApplications(adminUrl: string, url: string): Promise<void> {
  const admin = new URL(adminUrl);
  admin.pathname = new URL(url).pathname;
  await runSql(
    admin.href,
    `INSERT INTO retailers (id, name)
     SELECT (to_char(n, 'FM000000000000') || '40008000000000000000')::uuid, 'Retailer ' || n
     FROM generate_series(1, 999) AS n`,
  );
  for (let from = 0; from < ROWS; from += SLICE) {
    await runSql(
      admin.href,
      `INSERT INTO applications (id, retailer_id, type, status, created_at)
       SELECT gen_random_uuid(), ids[1 + n % 1000], 'APPROVAL', 'SUBMITTED',
         now() - (n * 17) * interval '1 s'
       FROM generate_series($1::int, $1::int + $2::int - 1) AS n
       CROSS JOIN (SELECT array_agg(id) AS ids FROM (SELECT id FROM retailers LIMIT 1000)) AS r`,
      [from, SLICE],
    );
  }
  await runSql(admin.href, 'VACUUM (ANALYZE) applications');
  await runSql(admin.href, 'CHECKPOINT');
}

await measureScale(measure);
