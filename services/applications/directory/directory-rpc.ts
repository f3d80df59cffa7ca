/** DirectoryService: translates between the messages of the contract and the directory. */
import type { Database } from '@creditlane/postgres/database';
import {
  type Creditor,
  DirectoryService,
  type Retailer,
  type RetailerGroup,
  type User,
} from '@creditlane/proto/applications/v1/directory_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { retailerOf } from '../scope.ts';
import { findRows } from '../store/directory.ts';
import { creditors, retailers } from '../tables.ts';
import {
  registerCreditor,
  registerRetailer,
  registerRetailerGroup,
  registerUser,
} from './directory.ts';
import { listUsers } from './list-users.ts';

const lowerCase = (id: string) => id.toLowerCase();

/**
 * The routes of DirectoryService to mount. The proto requires the record of every request. Ids may
 * arrive in either case; tables and comparisons have them in lower case.
 */
export function directoryRoutes(database: Database): ServiceRoutes {
  return implement(DirectoryService, {
    async registerRetailerGroup(request) {
      const { retailerGroupId, name } = request.retailerGroup as RetailerGroup;
      await registerRetailerGroup(database, { id: lowerCase(retailerGroupId), name });
      return {};
    },

    async registerRetailer(request) {
      const { retailerId, name, retailerGroupId } = request.retailer as Retailer;
      await registerRetailer(database, {
        id: lowerCase(retailerId),
        name,
        retailerGroupId: lowerCase(retailerGroupId) || null,
      });
      return {};
    },

    async registerUser(request) {
      const { userId, firstName, lastName, email, active, ...ids } = request.user as User;
      await registerUser(database, {
        id: lowerCase(userId),
        firstName,
        lastName,
        email,
        active,
        retailerIds: ids.retailerIds.map(lowerCase),
        retailerGroupIds: ids.retailerGroupIds.map(lowerCase),
      });
      return {};
    },

    async registerCreditor(request) {
      const { creditorId, name } = request.creditor as Creditor;
      await registerCreditor(database, { id: lowerCase(creditorId), name });
      return {};
    },

    async listUsers({ active, ...page }, call) {
      const filter = { retailerId: retailerOf(call.identity), active };
      const { items, nextCursor } = await listUsers(database.requests.of(call), filter, page);
      return { users: items.map(({ id, ...user }) => ({ userId: id, ...user })), nextCursor };
    },

    async getRetailers({ retailerIds }) {
      const rows = await findRows(database, retailers, retailerIds.map(lowerCase));
      return {
        retailers: rows.map(({ id, name, retailerGroupId }) => ({
          retailerId: id,
          name,
          retailerGroupId: retailerGroupId ?? '',
        })),
      };
    },

    async getCreditors({ creditorIds }) {
      const rows = await findRows(database, creditors, creditorIds.map(lowerCase));
      return { creditors: rows.map(({ id, name }) => ({ creditorId: id, name })) };
    },
  });
}
