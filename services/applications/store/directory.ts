/** Reads and writes the directory: retailers with their groups and users, and creditors. */
import type { Database } from '@creditlane/postgres/database';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { isUuid } from '@creditlane/runtime/ids';
import { type EntitySchema, In } from 'typeorm';

/**
 * Inserts a row, or replaces the row that has its id, and does `work` in the same transaction, before the row is there.
 */
export async function saveRow<Row extends { id: string }>(
  { dataSource }: Database,
  table: EntitySchema<Row>,
  row: Row,
  work: (tx: Queryable) => Promise<void>,
): Promise<void> {
  await dataSource.transaction(async (manager) => {
    // The connection of the transaction, which the type of TypeORM does not name.
    await work((await manager.queryRunner?.connect()) as Queryable);
    await manager.getRepository<{ id: string }>(table).upsert(row, ['id']);
  });
}

const lockGroup = defineStatement(
  'retailer_group_lock',
  'SELECT FROM retailer_groups WHERE id = $1 FOR UPDATE',
);

const selectJoins = defineStatement<{ joins: boolean }>(
  'retailer_group_joins',
  `SELECT EXISTS (SELECT FROM retailers WHERE retailer_group_id = $1 AND id <> $2)
     AND NOT EXISTS (SELECT FROM retailers WHERE retailer_group_id = $1 AND id = $2) AS joins`,
);

/**
 * Whether the retailer would join others by belonging to the group. Nobody else joins the group until the transaction
 * ends.
 */
export async function joinsOthers(
  tx: Queryable,
  { id, retailerGroupId }: { id: string; retailerGroupId: string },
): Promise<boolean> {
  await lockGroup.run(tx, [retailerGroupId]);
  const [row] = await selectJoins.run(tx, [retailerGroupId, id]);
  return row?.joins ?? true;
}

/** The rows that have one of the ids, in no particular order. No row has an id that is no UUID. */
export async function findRows<Row extends { id: string }>(
  { dataSource }: Database,
  table: EntitySchema<Row>,
  ids: readonly string[],
): Promise<Row[]> {
  const repository = dataSource.getRepository<{ id: string }>(table);
  return (await repository.findBy({ id: In(ids.filter(isUuid)) })) as Row[];
}

const selectRetailer = defineStatement<{ id: string }>(
  'retailer_find',
  'SELECT id FROM retailers WHERE id = $1',
);

export async function retailerExists(tx: Queryable, retailerId: string): Promise<boolean> {
  return (await selectRetailer.run(tx, [retailerId])).length > 0;
}
