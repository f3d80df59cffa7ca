/** The table `migrations`, which TypeORM made in earlier versions: what was run, and for which versions. */
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import type { QueryRunner } from 'typeorm';
import { ANY_VERSION, floorOf, nameOf, type SchemaMigration } from './migration.ts';

/** A newer version has migrated the database to a schema that this version cannot use. */
export class DatabaseNewerError extends LoggableError {
  constructor(unknown: string[]) {
    super(
      `the database is of a newer version: it has migrations unknown here that do more than add (${unknown.join(', ')}). ` +
        'Start a version that knows them, or restore a backup from before them.',
    );
  }
}

/**
 * The migrations that were not run on this database. Throws `DatabaseNewerError` when a migration that is not among
 * `known` was run, and its compatibility floor excludes a version with only the known ones.
 */
export async function findPending(
  runner: QueryRunner,
  known: readonly SchemaMigration[],
): Promise<SchemaMigration[]> {
  const executed = await findExecuted(runner);
  const names = new Set(known.map(nameOf));
  const isUsable = (floor: string | null) =>
    floor !== null && (floor === ANY_VERSION || names.has(floor));
  const refusing = executed.filter(({ name, floor }) => !names.has(name) && !isUsable(floor));
  if (refusing.length > 0) throw new DatabaseNewerError(refusing.map(({ name }) => name));
  const executedNames = new Set(executed.map(({ name }) => name));
  return known.filter((migration) => !executedNames.has(nameOf(migration)));
}

async function findExecuted(
  runner: QueryRunner,
): Promise<{ name: string; floor: string | null }[]> {
  const [table] = await runner.query(`SELECT to_regclass('migrations') IS NOT NULL AS exists`);
  if (!table.exists) return [];
  // The table of an earlier version has no column `floor`.
  return runner.query(`SELECT name, to_jsonb(m) ->> 'floor' AS floor FROM migrations AS m`);
}

/** Makes the table, or adds to the table of an earlier version the column with the compatibility floor. */
export async function prepareTable(runner: QueryRunner): Promise<void> {
  await runner.query(
    `CREATE TABLE IF NOT EXISTS migrations (
       id serial PRIMARY KEY, "timestamp" bigint NOT NULL, name text NOT NULL, floor text)`,
  );
  // ADD COLUMN IF NOT EXISTS would take its lock even where the column exists.
  const [column] = await runner.query(
    `SELECT FROM pg_attribute WHERE attrelid = 'migrations'::regclass AND attname = 'floor'`,
  );
  if (column === undefined) await runner.query('ALTER TABLE migrations ADD COLUMN floor text');
}

/** Records that the migration was run. */
export async function insertExecuted(
  runner: QueryRunner,
  migration: SchemaMigration,
  isNewDatabase: boolean,
): Promise<void> {
  await runner.query('INSERT INTO migrations ("timestamp", name, floor) VALUES ($1, $2, $3)', [
    timestampOf(migration),
    nameOf(migration),
    floorOf(migration, isNewDatabase),
  ]);
}

/** Orders migrations as they are run. */
export function timestampOf(migration: SchemaMigration): number {
  const [digits] = /\d{13}$/.exec(nameOf(migration)) ?? [];
  if (digits === undefined) throw new Error(`${nameOf(migration)} ends in no timestamp`);
  return Number(digits);
}
