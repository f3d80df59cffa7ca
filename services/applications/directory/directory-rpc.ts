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

/** The routes of DirectoryService to mount. The proto requires the record of every request. */
export function directoryRoutes(database: Database): ServiceRoutes {
  return implement(DirectoryService, {
    async registerRetailerGroup(request, call) {
      const { retailerGroupId, name } = request.retailerGroup as RetailerGroup;
      await registerRetailerGroup(database, { id: retailerGroupId, name }, call);
      return {};
    },

    async registerRetailer(request, call) {
      const { retailerId, name, retailerGroupId } = request.retailer as Retailer;
      // The contract requires no UUID here, so that the text arrives as it was sent.
      const groupId = retailerGroupId.toLowerCase() || null;
      await registerRetailer(database, { id: retailerId, name, retailerGroupId: groupId }, call);
      return {};
    },

    async registerUser(request, call) {
      const user = request.user as User;
      const { firstName, lastName, email, active, retailerIds, retailerGroupIds } = user;
      const person = { firstName, lastName, email, active };
      await registerUser(
        database,
        { id: user.userId, ...person, retailerIds, retailerGroupIds },
        call,
      );
      return {};
    },

    async registerCreditor(request, call) {
      const { creditorId, name } = request.creditor as Creditor;
      await registerCreditor(database, { id: creditorId, name }, call);
      return {};
    },

    async listUsers({ active, ...page }, call) {
      const filter = { retailerId: retailerOf(call.identity), active };
      const { items, nextCursor } = await listUsers(database.requests.of(call), filter, page);
      return { users: items.map(({ id, ...user }) => ({ userId: id, ...user })), nextCursor };
    },

    async getRetailers({ retailerIds }) {
      const rows = await findRows(database, retailers, retailerIds);
      return {
        retailers: rows.map(({ id, name, retailerGroupId }) => ({
          retailerId: id,
          name,
          retailerGroupId: retailerGroupId ?? '',
        })),
      };
    },

    async getCreditors({ creditorIds }) {
      const rows = await findRows(database, creditors, creditorIds);
      return { creditors: rows.map(({ id, name }) => ({ creditorId: id, name })) };
    },
  });
}
