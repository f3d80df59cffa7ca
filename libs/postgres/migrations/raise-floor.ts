/**
 * The compatibility floor of a migration that has been run, raised later: the migration itself only adds, and from a
 * moment that the service chooses rows are written that versions without the migration cannot read.
 */
import { defineStatement, type Queryable } from '../statement.ts';
import { type Migration, nameOf } from './migration.ts';

const selectFloor = defineStatement<{ raised: boolean }>(
  'migration_floor_raised',
  'SELECT floor = name AS raised FROM migrations WHERE name = $1',
);

/** Whether the floor excludes versions without the migration. */
export async function isFloorRaised(db: Queryable, migration: Migration): Promise<boolean> {
  const [row] = await selectFloor.run(db, [nameOf(new migration())]);
  return row?.raised === true;
}

const updateFloor = defineStatement(
  'migration_floor_raise',
  'UPDATE migrations SET floor = name WHERE name = $1 AND floor <> name',
);

/** From now on a version without the migration does not start. One that runs goes on. */
export async function raiseFloor(db: Queryable, migration: Migration): Promise<void> {
  await updateFloor.run(db, [nameOf(new migration())]);
}
