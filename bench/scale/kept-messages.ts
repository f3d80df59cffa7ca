/** Outbox, inbox and stored answers: ten retention cycles, and events beside millions of kept ones. */
import { setTimeout as delay } from 'node:timers/promises';
import { decisions } from '@creditlane/decisions/service';
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { INBOX_PARTITIONS } from '@creditlane/messaging/inbox-by-day';
import { OUTBOX_PARTITIONS } from '@creditlane/messaging/outbox-by-day';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import { type Database, openDatabase } from '@creditlane/postgres/database';
import { maintainDays } from '@creditlane/postgres/partitions/day-partitions';
import { definePurge, deleteOlderThanSql, runPurge } from '@creditlane/postgres/retention';
import { firstIdOfTime } from '@creditlane/runtime/ids';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { runSql } from '../data/sql.ts';
import { BATCH_EVENTS, startEventFlow } from '../load/event-flow.ts';
import { summarizeTimes } from '../load/latency.ts';
import { measureScale, type Scale } from '../scale-subject.ts';

const CYCLES = 10;
const ROWS_OF_CYCLE = 50_000;
const KEPT_EVENTS = 2_000_000;
const KEPT_RECEIVED = 4_000_000;
/** How many transactions with events a round has. */
const BATCHES = 150;
const ROUNDS = 5;
/** Kept rows may cost so much; the rounds of one database differ by some 5 %, too. */
const MAX_RATIO = 1.1;
/** Later cycles against the first ones. The files of a table grow by whole pages. */
const MAX_GROWTH = 1.2;
const CYCLE_MS = 1_500;
const DAY_MS = 86_400_000;

type Run = (text: string, values?: unknown[]) => Promise<unknown>;

/** A table whose cycle is measured: how a day fills, and how the day ends. */
interface Subject {
  readonly name: string;
  /** SQL pattern of the names of its tables. */
  readonly tables: string;
  fill(run: Run): Promise<void>;
  end(database: Database): Promise<unknown>;
  /** Printed beside the others, without limits. */
  readonly isPeer?: boolean;
}

const log = createLog('bench', { level: 'error', pretty: true });

async function measure(scale: Scale): Promise<void> {
  const adminUrl = await scale.startPostgres();
  const urls = await prepareDatabases(adminUrl, makeSecrets());
  const open = async (url: string) => {
    const database = await openDatabase({
      ...{ url, name: 'bench', poolSize: 10, log, metrics: new Metrics(), entities: [] },
      migrations: [...(decisions.database?.migrations ?? [])],
      statementTimeoutMs: 280_000,
    });
    scale.closers.add('database', () => database.close());
    return database;
  };
  const kept = await open(urls.decisions);
  const empty = await open(urls.conversations);
  await kept.pool.query(`CREATE TABLE earlier_answers (LIKE idempotency INCLUDING DEFAULTS);
    ALTER TABLE earlier_answers ADD PRIMARY KEY (caller_id, operation, key);
    CREATE INDEX earlier_answers_age ON earlier_answers USING brin (created_at)`);
  for (const subject of SUBJECTS) await measureCycles(scale, kept, subject);
  await insertKept(scale, kept);
  await runSql(adminUrl, 'CHECKPOINT');
  await measureBesideKept(scale, { kept, empty });
}

/** Midnight (UTC) of the day that keeps its rows no longer. */
const endedDay = (retentionDays: number) =>
  Math.floor(Date.now() / DAY_MS - retentionDays - 1) * DAY_MS;
const nameOfDay = (table: string, atMs: number) =>
  `${table}_${new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '')}`;

/** Ids of version 7 that begin with the given time: SQL of a number of milliseconds. */
const idSql = (ms: string) =>
  `(lpad(to_hex((${ms})::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 19))::uuid`;

const SUBJECTS: readonly Subject[] = [
  {
    name: 'outbox',
    tables: 'outbox%',
    async fill(run) {
      const from = endedDay(OUTBOX_PARTITIONS.retentionDays);
      const [at, to] = [from, from + DAY_MS].map((ms) => new Date(ms).toISOString());
      await run(`CREATE TABLE ${nameOfDay('outbox_published', from)} PARTITION OF outbox_published
        FOR VALUES FROM ('${at}') TO ('${to}')`);
      await run(
        `INSERT INTO outbox (shard, topic, key, event_id, type, payload)
         SELECT n % 4, 'creditlane.decisions.v1', gen_random_uuid()::text, uuidv7(),
           'creditlane.decisions.v1.DecisionRecorded', jsonb_build_object('text', repeat('x', 600))
         FROM generate_series(1, ${ROWS_OF_CYCLE}) AS n`,
      );
      await run(`UPDATE outbox SET published_at = '${at}' WHERE published_at IS NULL`);
      await run('VACUUM outbox_waiting');
    },
    end: (database) => maintainDays(database.pool, OUTBOX_PARTITIONS),
  },
  {
    name: 'inbox',
    tables: 'inbox%',
    async fill(run) {
      const from = endedDay(INBOX_PARTITIONS.retentionDays);
      await run(`CREATE TABLE ${nameOfDay('inbox', from)} PARTITION OF inbox
        FOR VALUES FROM ('${firstIdOfTime(from)}') TO ('${firstIdOfTime(from + DAY_MS)}')`);
      await run(
        `INSERT INTO inbox (consumer, event_id, received_at)
         SELECT 'bench', ${idSql(`${from} + n`)}, now() - interval '31 days'
         FROM generate_series(1, ${ROWS_OF_CYCLE}) AS n`,
      );
    },
    end: (database) => maintainDays(database.pool, INBOX_PARTITIONS),
  },
  {
    name: 'stored answers',
    tables: 'idempotency%',
    fill: (run) => fillAnswers(run, 'idempotency'),
    end: (database) => runPurge(database.pool, purgeIdempotency),
  },
  {
    name: 'stored answers, found by a BRIN index',
    tables: 'earlier_answers%',
    isPeer: true,
    fill: (run) => fillAnswers(run, 'earlier_answers'),
    end: (database) => runPurge(database.pool, purgeByBrin),
  },
];

/** The purge of versions that had no index of ages. */
const purgeByBrin = definePurge(
  'earlier_purge',
  deleteOlderThanSql('earlier_answers', 'created_at', '24 hours'),
);

/** Answers of which half expire before the next cycle ends them, and half before the one after it. */
async function fillAnswers(run: Run, table: string): Promise<void> {
  await run(
    `INSERT INTO ${table} (caller_id, operation, key, request_digest, response, created_at)
     SELECT 'bench', 'bench', gen_random_uuid(), '', decode(repeat('00', 100), 'hex'),
       now() - interval '24 hours' + interval '1 ms' * (n * 3000 / ${ROWS_OF_CYCLE})
     FROM generate_series(1, ${ROWS_OF_CYCLE}) AS n`,
  );
  // As autovacuum does, which works by the minute.
  await run(`VACUUM ${table}`);
}

/** Fills a day and ends it, again and again: neither the time nor the size may grow. */
async function measureCycles(scale: Scale, database: Database, subject: Subject): Promise<void> {
  const { name, tables, fill, end, isPeer } = subject;
  const run: Run = async (text, values) => (await database.pool.query(text, values)).rows;
  const cycles: { fillMs: number; endMs: number; bytes: number }[] = [];
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    await delay(CYCLE_MS);
    const startedMs = performance.now();
    await fill(run);
    const filledMs = performance.now();
    await end(database);
    const endedMs = performance.now();
    const { rows } = await database.pool.query(
      `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class
       WHERE relkind = 'r' AND relname LIKE $1`,
      [tables],
    );
    cycles.push({
      fillMs: Math.round(filledMs - startedMs),
      endMs: Math.round(endedMs - filledMs),
      bytes: rows[0].bytes,
    });
  }
  for (const { fillMs, endMs, bytes } of cycles) {
    scale.print(
      `${name}: filled in ${fillMs} ms, ended in ${endMs} ms, ${Math.round(bytes / 1024)} KiB`,
    );
  }
  // The first cycles make the files.
  const [early, late] = [cycles.slice(2, 5), cycles.slice(-3)];
  for (const figure of ['fillMs', 'endMs', 'bytes'] as const) {
    const medians = [early, late].map((some) => summarizeTimes(some.map((it) => it[figure])).p50);
    const [first = 0, last = 0] = medians;
    // Some milliseconds more are no growth.
    const isTime = figure !== 'bytes';
    const growth = isTime && last - first < 50 ? 1 : last / Math.max(1, first);
    if (isPeer) continue;
    scale.limit(`${name}: ${figure} of the last cycles by the first`, growth, MAX_GROWTH);
  }
}

async function insertKept(scale: Scale, { pool }: Database): Promise<void> {
  scale.print(`inserting ${KEPT_EVENTS} published and ${KEPT_RECEIVED} received events`);
  await pool.query(
    `INSERT INTO outbox (shard, topic, key, event_id, type, payload, published_at)
     SELECT n % 4, 'creditlane.decisions.v1', gen_random_uuid()::text, uuidv7(),
       'creditlane.decisions.v1.DecisionRecorded', jsonb_build_object('text', repeat('x', 600)), now()
     FROM generate_series(1, ${KEPT_EVENTS}) AS n`,
  );
  // All of the present day, in the partition that further events are inserted into.
  await pool.query(
    `INSERT INTO inbox (consumer, event_id)
     SELECT 'bench', ${idSql(`${Date.now()} - n`)} FROM generate_series(1, ${KEPT_RECEIVED}) AS n`,
  );
  await pool.query('VACUUM (ANALYZE) outbox');
  await pool.query('VACUUM (ANALYZE) inbox');
}

/** Appends, publishes and receives events in a database with history and in an empty one, in turns. */
async function measureBesideKept(
  scale: Scale,
  databases: { kept: Database; empty: Database },
): Promise<void> {
  const flows = Object.entries(databases).map(([name, database]) => {
    const flow = startEventFlow(database);
    scale.closers.add('relay', () => flow.close());
    return { name, flow, rounds: [] as number[], latencies: [] as number[] };
  });
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { flow, rounds, latencies } of flows) {
      const startedMs = performance.now();
      const timesMs = await flow.run(BATCHES);
      // The first round makes connections and plans.
      if (round === 0) continue;
      rounds.push(performance.now() - startedMs);
      latencies.push(...timesMs);
    }
  }
  const [kept, empty] = flows.map(({ name, rounds, latencies }) => {
    const roundMs = summarizeTimes(rounds).p50;
    const { p50, p99 } = summarizeTimes(latencies);
    const perSecond = Math.round((BATCH_EVENTS * BATCHES * 1000) / roundMs);
    scale.print(`${name}: ${perSecond} events/s; a batch: p50 ${p50} ms, p99 ${p99} ms`);
    return { roundMs, p50 };
  });
  if (!kept || !empty) throw new Error('both databases are measured');
  scale.limit('time beside kept events by that without', kept.roundMs / empty.roundMs, MAX_RATIO);
  scale.limit('median latency beside kept events by that without', kept.p50 / empty.p50, MAX_RATIO);
}

await measureScale(measure);
