/**
 * The directory: retailers with their groups and users, and creditors. Registering a record replaces it.
 * Every function throws a Fault that names all wrong fields.
 */
import { recordAct } from '@creditlane/platform-acts/platform-acts';
import type { Database } from '@creditlane/postgres/database';
import type { Call } from '@creditlane/rpc/call';
import { forbidden } from '@creditlane/rpc/fault';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import { findRows, joinsOthers, saveRow } from '../store/directory.ts';
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
  call: Call,
): Promise<void> {
  const faults = new FieldFaults();
  faults.checkName('/name', row.name);
  faults.throwIfAny('invalid_retailer_group');
  await saveRow(database, retailerGroups, row, (tx) =>
    recordAct(tx, call, 'RETAILER_GROUP_REGISTERED', { retailerGroupId: row.id }),
  );
}

const WIDENS_GRANTS = 'MANAGE_INTEGRATIONS';

/**
 * An integration with a grant on a retailer reaches the applications of all retailers of its group. So a retailer that joins
 * others hands them over to the integrations of these, which needs the permission for grants, too.
 *
 * @throws Fault `permission_missing`
 */
export async function registerRetailer(
  database: Database,
  row: RetailerRow,
  call: Call,
): Promise<void> {
  const faults = new FieldFaults();
  faults.checkName('/name', row.name);
  const groupIds = row.retailerGroupId === null ? [] : [row.retailerGroupId];
  if ((await findUnknownIndexes(database, retailerGroups, groupIds)).length > 0) {
    faults.add('/retailerGroupId', 'must name a retailer group');
  }
  faults.throwIfAny('invalid_retailer');
  const { id, retailerGroupId } = row;
  await saveRow(database, retailers, row, async (tx) => {
    const mayWiden = call.identity.permissions.includes(WIDENS_GRANTS);
    const widens = retailerGroupId !== null && (await joinsOthers(tx, { id, retailerGroupId }));
    if (widens && !mayWiden) {
      const message = `a retailer that joins others in a group needs the permission ${WIDENS_GRANTS}, too`;
      throw forbidden('permission_missing', message);
    }
    const subject = { retailerId: id, ...(retailerGroupId !== null && { retailerGroupId }) };
    await recordAct(tx, call, 'RETAILER_REGISTERED', subject);
  });
}

export async function registerUser(database: Database, row: UserRow, call: Call): Promise<void> {
  const faults = new FieldFaults();
  faults.checkPersonNames('', row);
  for (const index of await findUnknownIndexes(database, retailers, row.retailerIds)) {
    faults.add(`/retailerIds/${index}`, 'must name a retailer');
  }
  for (const index of await findUnknownIndexes(database, retailerGroups, row.retailerGroupIds)) {
    faults.add(`/retailerGroupIds/${index}`, 'must name a retailer group');
  }
  faults.throwIfAny('invalid_user');
  await saveRow(database, users, row, (tx) =>
    recordAct(tx, call, 'USER_REGISTERED', { userId: row.id }),
  );
}

export async function registerCreditor(
  database: Database,
  row: CreditorRow,
  call: Call,
): Promise<void> {
  const faults = new FieldFaults();
  faults.checkName('/name', row.name);
  faults.throwIfAny('invalid_creditor');
  await saveRow(database, creditors, row, (tx) =>
    recordAct(tx, call, 'CREDITOR_REGISTERED', { creditorId: row.id }),
  );
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
