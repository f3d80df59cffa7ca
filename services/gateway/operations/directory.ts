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
  type ListGrantsResponse_Grant as Grant,
  ListGrantsResponse_GrantSchema as GrantSchema,
  GrantSide,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { CallContext, Client } from '@creditlane/rpc/client';
import { ownCall } from '../access/call-options.ts';
import { defineHandlers } from './handlers.ts';
import { messageReader, messageWriter } from './service-messages/json-message.ts';
import { answerPage, renameRefusedFields } from './service-messages/service-answers.ts';

const readRetailer = messageReader(RetailerSchema, { except: ['retailerId'] });
const readRetailerGroup = messageReader(RetailerGroupSchema, { except: ['retailerGroupId'] });
const readUser = messageReader(UserSchema, { except: ['userId'] });
const readCreditor = messageReader(CreditorSchema, { except: ['creditorId'] });

const readUserList = messageReader(ListUsersRequestSchema);
const writeUser = messageWriter(UserSchema);
/** Users have both names in lists; one is empty of a person with one name. */
const NAMES = { firstName: '', lastName: '' };
const writeRetailer = messageWriter(RetailerSchema);
const writeCreditor = messageWriter(CreditorSchema);
const writeRetailerGrant = messageWriter(GrantSchema, { except: ['id', 'disabled'] });
const writeCreditorGrant = messageWriter(GrantSchema, { except: ['id'] });

export interface DirectoryPeers {
  readonly directory: Client<typeof DirectoryService>;
  readonly access: Client<typeof AccessService>;
}

export function directoryOperations({ directory, access }: DirectoryPeers) {
  /** A page of the grants of the calling integration, each with what `find` gives for its id; others are left out. */
  const listGranted = <Written, WrittenGrant>(
    side: GrantSide,
    { query, context }: { query: { limit: number; cursor?: string }; context: CallContext },
    find: (ids: string[], call: CallContext) => Promise<Map<string, Written>>,
    writeGrant: (grant: Grant) => WrittenGrant,
  ) => {
    const own = ownCall(context);
    const request = { integrationId: context.identity.subject, side, ...query };
    return answerPage(access.listGrants(request, own), async ({ grants }) => {
      const ids = grants.map(({ id }) => id);
      const found = await find(ids, own);
      return grants.flatMap((grant) => {
        const written = found.get(grant.id);
        return written === undefined ? [] : [{ ...written, ...writeGrant(grant) }];
      });
    });
  };

  return defineHandlers({
    async listUsers({ query, context }) {
      const call = directory.listUsers(readUserList(query), context);
      return await answerPage(call, ({ users }) =>
        users.map((user) => ({ ...NAMES, ...writeUser(user) })),
      );
    },

    async listRetailers(call) {
      const find = async (retailerIds: string[], own: CallContext) => {
        const { retailers } = await directory.getRetailers({ retailerIds }, own);
        return new Map(retailers.map((it) => [it.retailerId, writeRetailer(it)]));
      };
      return await listGranted(GrantSide.RETAILER, call, find, writeRetailerGrant);
    },

    async listCreditors(call) {
      const find = async (creditorIds: string[], own: CallContext) => {
        const { creditors } = await directory.getCreditors({ creditorIds }, own);
        return new Map(creditors.map((it) => [it.creditorId, writeCreditor(it)]));
      };
      return await listGranted(GrantSide.CREDITOR, call, find, writeCreditorGrant);
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
