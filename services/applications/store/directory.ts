/** Reads and writes the directory: retailers with their groups and users, and creditors. */
import type { Database } from '@creditlane/postgres/database';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { isUuid } from '@creditlane/runtime/ids';
import { type EntitySchema, In } from 'typeorm';

/** Inserts a row, or replaces the row that has its id. */
export async function saveRow<Row extends { id: string }>(
  { dataSource }: Database,
  table: EntitySchema<Row>,
  row: Row,
): Promise<void> {
  await dataSource.getRepository<{ id: string }>(table).upsert(row, ['id']);
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
