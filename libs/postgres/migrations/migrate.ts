/** Migrates a database's schema, once for all processes that start at the same time. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { DataSource, type QueryRunner } from 'typeorm';
import { LOCK_WAIT_MS, whenUnlocked } from '../lock-wait.ts';
import { typeormLog } from '../typeorm-log.ts';
import { findPending, insertExecuted, prepareTable, timestampOf } from './executed-migrations.ts';
import { type Migration, nameOf, type SchemaMigration } from './migration.ts';

export { DatabaseNewerError } from './executed-migrations.ts';
export type { Migration } from './migration.ts';

/** Any number: advisory locks belong to one database, and no other code takes a session-level one. */
const LOCK_ID = 4_711_001;

/** How often to look whether the other process that migrates has ended, or has run the migrations. */
const POLL_MS = 200;

/** The time between two warnings of one wait. */
const WARN_MS = 30_000;

/**
 * Runs the migrations that were not run on this database, each in a transaction unless it says otherwise. Processes that
 * start at once take turns; a process that has nothing to run waits for none. Throws `DatabaseNewerError`, and changes
 * nothing, when a newer version has run migrations after which this version cannot use the database.
 * @param mayRun false waits until another process has run the migrations
 */
export async function migrate(
  url: string,
  migrations: Migration[],
  log: Log,
  mayRun = true,
): Promise<void> {
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    // One session holds the lock and runs the migrations: a lost connection ends both.
    poolSize: 1,
    applicationName: 'creditlane migrations',
    installExtensions: false,
    logger: typeormLog(log),
    poolErrorHandler: (err) => log.warn({ err }, 'connection lost while migrating'),
  });
  await dataSource.initialize();
  const runner = dataSource.createQueryRunner();
  try {
    const known = migrations.map((Migration) => new Migration());
    known.sort((a, b) => timestampOf(a) - timestampOf(b));
    if (mayRun) await runAll(runner, known, log);
    else await waitForAll(runner, known, log);
  } finally {
    await runner.release();
    // The end of the session releases the lock.
    await dataSource.destroy();
  }
}

async function waitForAll(runner: QueryRunner, known: SchemaMigration[], log: Log): Promise<void> {
  const warn = warnSeldom(() => log.warn('the database waits for its migrations'));
  while ((await findPending(runner, known)).length > 0) {
    warn();
    await delay(POLL_MS);
  }
}

async function runAll(runner: QueryRunner, known: SchemaMigration[], log: Log): Promise<void> {
  if ((await findPending(runner, known)).length === 0) return;
  await takeLock(runner, log);
  // A role may have a limit for its statements; the time of an index depends on its table.
  await runner.query('SET statement_timeout = 0');
  const prepare = async () => {
    await runner.query(`SET lock_timeout = ${LOCK_WAIT_MS}`);
    await prepareTable(runner);
  };
  await whenUnlocked(prepare, { onWait: warnOfWait(log, 'migrations') });
  const pending = await findPending(runner, known);
  const isNewDatabase = pending.length === known.length;
  for (const migration of pending) {
    const name = nameOf(migration);
    log.info({ migration: name }, 'migrating the database');
    const work = () => run(runner, migration, isNewDatabase);
    await whenUnlocked(work, { onWait: warnOfWait(log, name) });
    log.info({ migration: name }, 'database migrated');
  }
}

/**
 * Takes the lock. A session that waited in `pg_advisory_lock` would hold a snapshot, for whose end CREATE INDEX
 * CONCURRENTLY of the other process waits: each would wait for the other.
 */
async function takeLock(runner: QueryRunner, log: Log): Promise<void> {
  // PostgreSQL ends the session, and with it the lock, of a machine that is lost, not after its default of two hours.
  await runner.query('SET tcp_keepalives_idle = 10');
  await runner.query('SET tcp_keepalives_interval = 5');
  await runner.query('SET tcp_keepalives_count = 3');
  const warn = warnSeldom(() => log.warn('another process migrates the database'));
  for (;;) {
    const [row] = await runner.query('SELECT pg_try_advisory_lock($1) AS taken', [LOCK_ID]);
    if (row.taken) return;
    warn();
    await delay(POLL_MS);
  }
}

async function run(
  runner: QueryRunner,
  migration: SchemaMigration,
  isNewDatabase: boolean,
): Promise<void> {
  if (migration.transaction === false) {
    // It waits for transactions that are older than it, and no read or write waits for it.
    await runner.query('SET lock_timeout = 0');
    await migration.up(runner);
    return insertExecuted(runner, migration, isNewDatabase);
  }
  await runner.query(`SET lock_timeout = ${LOCK_WAIT_MS}`);
  await runner.startTransaction();
  try {
    await migration.up(runner);
    await insertExecuted(runner, migration, isNewDatabase);
    await runner.commitTransaction();
  } catch (error) {
    // A rollback fails with the connection, whose loss `error` reports.
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
}

const warnOfWait = (log: Log, migration: string) =>
  warnSeldom(() => log.warn({ migration }, 'a migration waits for a table that is in use'));

/** Calls `warn` at the first call, and again after `WARN_MS`. */
function warnSeldom(warn: () => void): () => void {
  let nextMs = 0;
  return () => {
    if (performance.now() < nextMs) return;
    nextMs = performance.now() + WARN_MS;
    warn();
  };
}
