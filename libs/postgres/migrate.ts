/** Migrates a database's schema, once for all processes that start at the same time. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { DataSource, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { isLockTimeout } from './error-classes.ts';
import { typeormLog } from './typeorm-log.ts';

/** The class of a migration; its name ends in a JavaScript timestamp of 13 digits. */
export type Migration = new () => MigrationInterface;

/** Any number: advisory locks belong to one database, and no other code takes a session-level one. */
const LOCK_ID = 4_711_001;

/** How long to wait for another process that migrates, and how often to look whether it has ended. */
const LOCK_WAIT_MS = 120_000;
const LOCK_POLL_MS = 200;

/**
 * How long a migration waits for the lock of a table. Later statements on the table wait behind it, so
 * the migration gives up after this time, lets them run and tries again.
 */
const TABLE_WAIT_MS = 2_000;
const TABLE_TRIES = 30;

/** A newer version has migrated the database to a schema that this version does not know. */
export class DatabaseNewerError extends Error {
  override name = 'DatabaseNewerError';
  readonly loggable = true;

  constructor(unknown: string[]) {
    super(
      `the database is of a newer version: it has migrations unknown here (${unknown.join(', ')}). Start that version, or restore a backup from before it.`,
    );
  }
}

/**
 * Runs the migrations that were not run on this database, each in a transaction. Processes that start
 * at once take turns. Throws `DatabaseNewerError`, and changes nothing, when other migrations were run.
 */
export async function migrate(url: string, migrations: Migration[], log: Log): Promise<void> {
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    // One session holds the lock and runs the migrations: a lost connection ends both.
    poolSize: 1,
    applicationName: 'creditlane migrations',
    installExtensions: false,
    logger: typeormLog(log),
    migrations,
    poolErrorHandler: (err) => log.warn({ err }, 'connection lost while migrating'),
  });
  await dataSource.initialize();
  const runner = dataSource.createQueryRunner();
  try {
    await takeLock(runner);
    await runner.query(`SET lock_timeout = ${TABLE_WAIT_MS}`);
    await runPending(dataSource, runner, log);
  } finally {
    await runner.release();
    // The end of the session releases the lock.
    await dataSource.destroy();
  }
}

/**
 * Takes the lock, or throws an Error when another process holds it for too long. A session that waited in
 * `pg_advisory_lock` would hold a snapshot, for whose end CREATE INDEX CONCURRENTLY of the other process
 * waits: each would wait for the other.
 */
async function takeLock(runner: QueryRunner): Promise<void> {
  const deadlineMs = performance.now() + LOCK_WAIT_MS;
  while (performance.now() < deadlineMs) {
    const [row] = await runner.query('SELECT pg_try_advisory_lock($1) AS taken', [LOCK_ID]);
    if (row.taken) return;
    await delay(LOCK_POLL_MS);
  }
  throw new Error(`another process has migrated the database for ${LOCK_WAIT_MS / 1000} s`);
}

async function runPending(dataSource: DataSource, runner: QueryRunner, log: Log): Promise<void> {
  const executor = new MigrationExecutor(dataSource, runner);
  executor.transaction = 'each';
  const known = new Set(dataSource.migrations.map((migration) => nameOf(migration)));
  const executed = (await executor.getExecutedMigrations()).map(({ name }) => name);
  const unknown = executed.filter((name) => !known.has(name));
  if (unknown.length > 0) throw new DatabaseNewerError(unknown);

  for (let attempt = 1; ; attempt += 1) {
    try {
      for (const { name } of await executor.executePendingMigrations()) {
        log.info({ migration: name }, 'database migrated');
      }
      return;
    } catch (error) {
      if (!isLockTimeout(error) || attempt === TABLE_TRIES) throw error;
      log.warn({ attempt }, 'a migration waits for a table that is in use');
      await delay(TABLE_WAIT_MS / 2);
    }
  }
}

function nameOf(migration: MigrationInterface): string {
  return migration.name ?? migration.constructor.name;
}
