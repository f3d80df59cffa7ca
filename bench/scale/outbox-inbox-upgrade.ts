/** The inbox of 5,000,000 rows and the outbox of 1,000,000 of an earlier version become tables by day, while events go on. */
import { decisions } from '@creditlane/decisions/service';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import { openDatabase } from '@creditlane/postgres/database';
import { type Migration, migrate } from '@creditlane/postgres/migrate';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { runSql } from '../data/sql.ts';
import { startEventFlow } from '../load/event-flow.ts';
import { summarizeTimes } from '../load/latency.ts';
import { startBenchPostgres } from '../platform/bench-postgres.ts';
import { measureScale, type Scale } from '../scale-subject.ts';

const INBOX_ROWS = 5_000_000;
const OUTBOX_ROWS = 1_000_000;
/** Batches of a round, some of which run before the migrations. */
const BATCHES = 50;
/** docs/operations/upgrade.md says how long the copy takes. */
const MAX_COPY_S_PER_MILLION = 20;
/** A migration waits for a lock for 100 ms at a time; the rest is the server's own delay on a busy machine. */
const MAX_ADDED_MS = 400;

const MIGRATIONS: readonly Migration[] = decisions.database?.migrations ?? [];
const nameOf = (Migration: Migration) => new Migration().name ?? '';
const FIRST_BY_DAY = MIGRATIONS.findIndex((it) => nameOf(it).startsWith('InboxByDay'));

async function measure(scale: Scale): Promise<void> {
  const { socketUrl } = await startBenchPostgres(scale.closers);
  const urls = await prepareDatabases(socketUrl, makeSecrets());
  const url = urls.decisions;
  const log = createLog('bench', { level: 'error', pretty: true });
  const database = await openDatabase({
    ...{ url, name: 'bench', poolSize: 10, log, metrics: new Metrics(), entities: [] },
    migrations: MIGRATIONS.slice(0, FIRST_BY_DAY),
  });
  scale.closers.add('database', () => database.close());
  scale.print(`inserting ${INBOX_ROWS} rows into the inbox and ${OUTBOX_ROWS} into the outbox`);
  await insertRows(url);

  const flow = startEventFlow(database);
  scale.closers.add('relay', () => flow.close());
  await flow.run(BATCHES);
  const before = summarizeTimes(await flow.run(BATCHES * 4));
  const steps: { name: string; ms: number }[] = [];
  const beside: number[] = [];
  let isMigrating = true;
  const migrating = (async () => {
    for (let end = FIRST_BY_DAY + 1; end <= MIGRATIONS.length; end += 1) {
      const startedMs = performance.now();
      await migrate(url, MIGRATIONS.slice(0, end), log);
      const name = nameOf(MIGRATIONS[end - 1] as Migration);
      steps.push({ name, ms: Math.round(performance.now() - startedMs) });
    }
  })().finally(() => {
    isMigrating = false;
  });
  // A statement that fails ends the measurement.
  while (isMigrating) beside.push(...(await flow.run(BATCHES)));
  await migrating;
  const after = summarizeTimes(await flow.run(BATCHES * 4));

  for (const { name, ms } of steps) scale.print(`${name}: ${ms} ms`);
  const latencies = { before, beside: summarizeTimes(beside), after };
  for (const [name, { p50, p99, max }] of Object.entries(latencies)) {
    scale.print(`a batch of events ${name}: p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`);
  }
  const copyMs = steps.find(({ name }) => name.startsWith('InboxCopied'))?.ms ?? Number.NaN;
  const secondsPerMillion = copyMs / 1_000 / (INBOX_ROWS / 1_000_000);
  scale.limit(
    'copy of 1,000,000 rows of the inbox',
    secondsPerMillion,
    MAX_COPY_S_PER_MILLION,
    's',
  );
  const limitMs = before.max + MAX_ADDED_MS;
  scale.limit('slowest batch beside the migrations', latencies.beside.max, limitMs, 'ms');
}

async function insertRows(url: string): Promise<void> {
  await runSql(
    url,
    `INSERT INTO inbox (consumer, event_id, received_at)
     SELECT 'earlier', (lpad(to_hex(at), 12, '0') || '7' || substr(md5(n::text), 1, 19))::uuid,
       to_timestamp(at / 1000.0)
     FROM generate_series(1, $1) AS n
     CROSS JOIN LATERAL (SELECT $2::bigint - ($1 - n)::bigint * 29 * 86400000 / $1 AS at) AS time`,
    [INBOX_ROWS, Date.now()],
  );
  await runSql(
    url,
    `INSERT INTO outbox (shard, topic, key, event_id, type, payload, published_at)
     SELECT n % 4, 'creditlane.decisions.v1', n::text, gen_random_uuid(), 'creditlane.decisions.v1.DecisionRecorded',
       jsonb_build_object('text', repeat('x', 600)), now()
     FROM generate_series(1, $1) AS n`,
    [OUTBOX_ROWS],
  );
  await runSql(url, 'VACUUM (ANALYZE)');
}

await measureScale(measure);
