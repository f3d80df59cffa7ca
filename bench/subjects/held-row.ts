/** 1,000 writes at once of a row that another session holds, while other calls of the replica go on. */
import { setTimeout as delay } from 'node:timers/promises';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import { type Database, openDatabase } from '@creditlane/postgres/database';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import pg from 'pg';
import { runSql } from '../data/sql.ts';
import type { Bench } from '../harness.ts';
import { summarizeTimes } from '../load/latency.ts';
import { startBenchPostgres } from '../platform/bench-postgres.ts';

const WRITERS = 1_000;
const POOL_SIZE = 10;
const STAGE_MS = 5_000;
const EVERY_MS = 50;
const LOCK_TIMEOUT_MS = 2_000;
/** The least that a single late call may take: the machine has other work, too. */
const MAX_P99_MS = 500;

const HELD = 1;
const OTHER = 2;
const write = defineStatement('row_write', 'UPDATE rows SET writes = writes + 1 WHERE id = $1');

type Call = (db: Queryable, id: number) => Promise<unknown>;
const writeRow: Call = (db, id) => write.run(db, [id]);

export default async function measure(bench: Bench): Promise<void> {
  const { socketUrl } = await startBenchPostgres(bench.closers);
  const { decisions: url } = await prepareDatabases(socketUrl, makeSecrets());
  const database = await openDatabase({
    url,
    name: 'bench',
    poolSize: POOL_SIZE,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    log: createLog('bench', { level: 'error', pretty: true }),
    metrics: new Metrics(),
    entities: [],
    migrations: [],
  });
  bench.closers.add('database', () => database.close());
  await runSql(url, 'CREATE TABLE rows (id int PRIMARY KEY, writes int)');
  await runSql(url, 'INSERT INTO rows VALUES ($1, 0), ($2, 0)', [HELD, OTHER]);
  const inTurn: Call = (db, id) => database.rowTurns.run(`${id}`, () => writeRow(db, id));

  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  bench.closers.add('session that holds the row', () => holder.end());
  await holder.query('BEGIN');
  await holder.query('SELECT FROM rows WHERE id = $1 FOR UPDATE', [HELD]);
  await callWhileHeld(bench, database, 'without turns', writeRow);
  const others = await callWhileHeld(bench, database, 'in turns', inTurn);
  bench.limit('refused calls of others', others.refused, 0);
  bench.limit('p99 of others', others.p99, MAX_P99_MS, 'ms');
  bench.limit('p99 of the reserved connections', others.reservedP99, MAX_P99_MS, 'ms');
  await holder.query('ROLLBACK');
}

/** WRITERS clients write the held row, each again when it is refused; another row is written at a fixed rate. */
async function callWhileHeld(bench: Bench, { pool, reserved }: Database, name: string, call: Call) {
  let isOver = false;
  const crowd = Array.from({ length: WRITERS }, async () => {
    while (!isOver) await call(pool, HELD).catch(() => undefined);
  });
  let refused = 0;
  const time = async (work: () => Promise<unknown>) => {
    const startedMs = performance.now();
    await work().catch(() => {
      refused += 1;
    });
    return Math.round(performance.now() - startedMs);
  };
  const others: Promise<number>[] = [];
  const ofReserved: Promise<number>[] = [];
  const untilMs = performance.now() + STAGE_MS;
  while (performance.now() < untilMs) {
    others.push(time(() => call(pool, OTHER)));
    ofReserved.push(time(() => writeRow(reserved, OTHER)));
    await delay(EVERY_MS);
  }
  const { p50, p99 } = summarizeTimes(await Promise.all(others));
  const { p99: reservedP99 } = summarizeTimes(await Promise.all(ofReserved));
  isOver = true;
  await Promise.all(crowd);
  bench.print(
    `${name}: others p50 ${p50} ms, p99 ${p99} ms, ${refused} refused; reserved connections p99 ${reservedP99} ms`,
  );
  return { p99, reservedP99, refused };
}
