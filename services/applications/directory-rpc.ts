/** DirectoryService as its proto states it: the platform's administration writes, nobody else. */
import { translateDatabaseErrors } from '@creditlane/postgres/database-fault';
import {
  type Creditor,
  DirectoryService,
  type Retailer,
  type RetailerGroup,
  type User,
} from '@creditlane/proto/applications/v1/directory_service';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import type { Store } from './store.ts';
import { creditors, retailerGroups, retailers, users } from './tables.ts';

/**
 * What is to be mounted for the directory. Each call replaces what its record was before. The records
 * are there by their protos' rules.
 */
export function directoryRoutes(store: Store): ServiceRoutes {
  return implement(
    DirectoryService,
    translateDatabaseErrors({
      async registerRetailerGroup({ retailerGroup }) {
        const { retailerGroupId: id, name } = retailerGroup as RetailerGroup;
        const faults = new FieldFaults();
        faults.checkPrintable('/name', name);
        faults.throwIfAny('invalid_retailer_group');
        await store.save(retailerGroups, { id, name });
        return {};
      },

      async registerRetailer({ retailer }) {
        const { retailerId: id, name, retailerGroupId: groupId } = retailer as Retailer;
        const faults = new FieldFaults();
        faults.checkPrintable('/name', name);
        if (groupId !== '' && (await unknownAmong(store, retailerGroups, [groupId])).length > 0) {
          faults.add('/retailerGroupId', 'must name a retailer group');
        }
        faults.throwIfAny('invalid_retailer');
        await store.save(retailers, { id, name, retailerGroupId: groupId || null });
        return {};
      },

      async registerUser({ user }) {
        const { userId: id, firstName, lastName, email, active, ...ids } = user as User;
        const { retailerIds, retailerGroupIds } = ids;
        const faults = new FieldFaults();
        faults.checkPrintable('/firstName', firstName);
        faults.checkPrintable('/lastName', lastName);
        for (const index of await unknownAmong(store, retailers, retailerIds)) {
          faults.add(`/retailerIds/${index}`, 'must name a retailer');
        }
        for (const index of await unknownAmong(store, retailerGroups, retailerGroupIds)) {
          faults.add(`/retailerGroupIds/${index}`, 'must name a retailer group');
        }
        faults.throwIfAny('invalid_user');
        const row = { id, firstName, lastName, email, active, retailerIds, retailerGroupIds };
        await store.save(users, row);
        return {};
      },

      async registerCreditor({ creditor }) {
        const { creditorId: id, name } = creditor as Creditor;
        const faults = new FieldFaults();
        faults.checkPrintable('/name', name);
        faults.throwIfAny('invalid_creditor');
        await store.save(creditors, { id, name });
        return {};
      },
    }),
  );
}

/** Where in the list there are ids that the table does not have. */
async function unknownAmong(
  store: Store,
  table: typeof retailers | typeof retailerGroups,
  ids: readonly string[],
): Promise<number[]> {
  const known = await store.known(table, ids);
  return [...ids.keys()].filter((index) => !known.has(ids[index]?.toLowerCase() ?? ''));
}
