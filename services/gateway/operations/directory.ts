/** The platform's operations on the directory of retailers, groups, users and creditors. */
import {
  CreditorSchema,
  type DirectoryService,
  RetailerGroupSchema,
  RetailerSchema,
  UserSchema,
} from '@creditlane/proto/applications/v1/directory_service';
import type { Client } from '@creditlane/rpc/client';
import { defineHandlers, renameRefusedFields } from './handlers.ts';
import { messageReader } from './json-message.ts';

const readRetailer = messageReader(RetailerSchema, { except: ['retailerId'] });
const readRetailerGroup = messageReader(RetailerGroupSchema, { except: ['retailerGroupId'] });
const readUser = messageReader(UserSchema, { except: ['userId'] });
const readCreditor = messageReader(CreditorSchema, { except: ['creditorId'] });

export function directoryOperations(directory: Client<typeof DirectoryService>) {
  return defineHandlers({
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
