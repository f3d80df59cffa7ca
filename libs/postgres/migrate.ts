/** Brings a database's schema up to what the code knows, once, whoever else is starting. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { DataSource, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { typeormLog } from './typeorm-log.ts';

/** The class of a migration; its name ends in a JavaScript timestamp of 13 digits. */
export type Migration = new () => MigrationInterface;

/** Any number will do: advisory locks are of one database, and this is its only one. */
const LOCK_ID = 4_711_001;

/** How long to wait for another process that is migrating. */
const LOCK_WAIT_MS = 120_000;

/**
 * How long a change waits for a table. Whoever wants the table after it waits behind it, so it gives
 * up quickly, lets the others through and tries again.
 */
const TABLE_WAIT_MS = 2_000;
const TABLE_TRIES = 30;
const LOCK_NOT_AVAILABLE = '55P03';

/** The database was migrated by a newer version, whose schema this one does not know. */
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
 * Runs the migrations that the database has not seen, each in a transaction. Processes that start at
 * once take turns. Throws `DatabaseNewerError` and changes nothing when the database has seen others.
 */
export async function migrate(url: string, migrations: Migration[], log: Log): Promise<void> {
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    // One session holds the lock and does the work, so a lost connection cannot do one without the other.
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
    await runner.query(`SET lock_timeout = ${LOCK_WAIT_MS}`);
    await runner.query('SELECT pg_advisory_lock($1)', [LOCK_ID]);
    await runner.query(`SET lock_timeout = ${TABLE_WAIT_MS}`);
    await runPending(dataSource, runner, log);
  } finally {
    await runner.release();
    // Ending the session gives the lock back.
    await dataSource.destroy();
  }
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
      const tableBusy = (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
      if (!tableBusy || attempt === TABLE_TRIES) throw error;
      log.warn({ attempt }, 'a migration waits for a table that is in use');
      await delay(TABLE_WAIT_MS / 2);
    }
  }
}

function nameOf(migration: MigrationInterface): string {
  return migration.name ?? migration.constructor.name;
}
