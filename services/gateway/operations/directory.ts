/**
 * The operations on the directory of retailers, groups, users and creditors: the platform registers them, and
 * integrations list those that are granted to them.
 */
import {
  CreditorSchema,
  type DirectoryService,
  ListUsersRequestSchema,
  RetailerGroupSchema,
  RetailerSchema,
  UserSchema,
} from '@creditlane/proto/applications/v1/directory_service';
import {
  type AccessService,
  ListGrantsResponse_GrantSchema as GrantSchema,
  GrantSide,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { CallContext, Client } from '@creditlane/rpc/client';
import { ownCall } from '../access/call-limits.ts';
import { CURSOR, defineHandlers, pageJson, renameRefusedFields } from './handlers.ts';
import { messageReader, messageWriter } from './json-message.ts';

const readRetailer = messageReader(RetailerSchema, { except: ['retailerId'] });
const readRetailerGroup = messageReader(RetailerGroupSchema, { except: ['retailerGroupId'] });
const readUser = messageReader(UserSchema, { except: ['userId'] });
const readCreditor = messageReader(CreditorSchema, { except: ['creditorId'] });

const readUserList = messageReader(ListUsersRequestSchema);
const writeUser = messageWriter(UserSchema);
const writeRetailer = messageWriter(RetailerSchema);
const writeCreditor = messageWriter(CreditorSchema);
const writeRetailerGrant = messageWriter(GrantSchema, { except: ['id', 'disabled'] });
const writeCreditorGrant = messageWriter(GrantSchema, { except: ['id'] });

export interface DirectoryPeers {
  readonly directory: Client<typeof DirectoryService>;
  readonly access: Client<typeof AccessService>;
}

export function directoryOperations({ directory, access }: DirectoryPeers) {
  /** A page of the grants of the calling integration. */
  const listGrants = (
    side: GrantSide,
    query: { limit: number; cursor?: string },
    call: CallContext,
  ) => {
    const request = { integrationId: call.identity.subject, side, ...query };
    return renameRefusedFields(access.listGrants(request, ownCall(call)), [CURSOR]);
  };

  return defineHandlers({
    async listUsers({ query, context }) {
      const call = directory.listUsers(readUserList(query), context);
      const { users, nextCursor } = await renameRefusedFields(call, [CURSOR]);
      return pageJson(
        users.map((user) => writeUser(user)),
        nextCursor,
      );
    },

    async listRetailers({ query, context }) {
      const { grants, nextCursor } = await listGrants(GrantSide.RETAILER, query, context);
      const retailerIds = grants.map(({ id }) => id);
      const { retailers } = await directory.getRetailers({ retailerIds }, ownCall(context));
      const byId = new Map(retailers.map((retailer) => [retailer.retailerId, retailer]));
      const data = grants.flatMap((grant) => {
        const retailer = byId.get(grant.id);
        return retailer ? [{ ...writeRetailer(retailer), ...writeRetailerGrant(grant) }] : [];
      });
      return pageJson(data, nextCursor);
    },

    async listCreditors({ query, context }) {
      const { grants, nextCursor } = await listGrants(GrantSide.CREDITOR, query, context);
      const creditorIds = grants.map(({ id }) => id);
      const { creditors } = await directory.getCreditors({ creditorIds }, ownCall(context));
      const byId = new Map(creditors.map((creditor) => [creditor.creditorId, creditor]));
      const data = grants.flatMap((grant) => {
        const creditor = byId.get(grant.id);
        return creditor ? [{ ...writeCreditor(creditor), ...writeCreditorGrant(grant) }] : [];
      });
      return pageJson(data, nextCursor);
    },

    async registerRetailer({ path, body, context }) {
      const retailer = { ...readRetailer(body), ...path };
      const call = directory.registerRetailer({ retailer }, context);
      await renameRefusedFields(call, [{ from: '/retailer', to: '' }]);
    },

    async registerRetailerGroup({ path, body, context }) {
      const retailerGroup = { ...readRetailerGroup(body), ...path };
      const call = directory.registerRetailerGroup({ retailerGroup }, context);
      await renameRefusedFields(call, [{ from: '/retailerGroup', to: '' }]);
    },

    async registerUser({ path, body, context }) {
      const user = { active: true, ...readUser(body), ...path };
      const call = directory.registerUser({ user }, context);
      await renameRefusedFields(call, [{ from: '/user', to: '' }]);
    },

    async registerCreditor({ path, body, context }) {
      const creditor = { ...readCreditor(body), ...path };
      const call = directory.registerCreditor({ creditor }, context);
      await renameRefusedFields(call, [{ from: '/creditor', to: '' }]);
    },
  });
}
