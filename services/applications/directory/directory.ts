/**
 * The directory: retailers with their groups and users, and creditors. Registering a record replaces it.
 * Every function throws a Fault that names all wrong fields.
 */
import type { Database } from '@creditlane/postgres/database';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import { findRows, saveRow } from '../store/directory.ts';
import {
  type CreditorRow,
  creditors,
  type RetailerGroupRow,
  type RetailerRow,
  retailerGroups,
  retailers,
  type UserRow,
  users,
} from '../tables.ts';

export async function registerRetailerGroup(
  database: Database,
  row: RetailerGroupRow,
): Promise<void> {
  const faults = new FieldFaults();
  faults.checkName('/name', row.name);
  faults.throwIfAny('invalid_retailer_group');
  await saveRow(database, retailerGroups, row);
}

export async function registerRetailer(database: Database, row: RetailerRow): Promise<void> {
  const faults = new FieldFaults();
  faults.checkName('/name', row.name);
  const groupIds = row.retailerGroupId === null ? [] : [row.retailerGroupId];
  if ((await findUnknownIndexes(database, retailerGroups, groupIds)).length > 0) {
    faults.add('/retailerGroupId', 'must name a retailer group');
  }
  faults.throwIfAny('invalid_retailer');
  await saveRow(database, retailers, row);
}

export async function registerUser(database: Database, row: UserRow): Promise<void> {
  const faults = new FieldFaults();
  faults.checkPersonNames('', row);
  for (const index of await findUnknownIndexes(database, retailers, row.retailerIds)) {
    faults.add(`/retailerIds/${index}`, 'must name a retailer');
  }
  for (const index of await findUnknownIndexes(database, retailerGroups, row.retailerGroupIds)) {
    faults.add(`/retailerGroupIds/${index}`, 'must name a retailer group');
  }
  faults.throwIfAny('invalid_user');
  await saveRow(database, users, row);
}

export async function registerCreditor(database: Database, row: CreditorRow): Promise<void> {
  const faults = new FieldFaults();
  faults.checkName('/name', row.name);
  faults.throwIfAny('invalid_creditor');
  await saveRow(database, creditors, row);
}

/** The indexes of the ids that the table does not have. */
async function findUnknownIndexes(
  database: Database,
  table: typeof retailers | typeof retailerGroups,
  ids: readonly string[],
): Promise<number[]> {
  const rows = await findRows<{ id: string }>(database, table, ids);
  const existing = new Set(rows.map(({ id }) => id));
  return [...ids.keys()].filter((index) => !existing.has(ids[index] ?? ''));
}
