/** The platform's operations on the directory of retailers, groups, users and creditors. */
import {
  CreditorSchema,
  type DirectoryService,
  RetailerGroupSchema,
  RetailerSchema,
  UserSchema,
} from '@creditlane/proto/applications/v1/directory_service';
import type { Client } from '@creditlane/rpc/client';
import { type Handlers, movingFields } from '../handler.ts';
import { messageReader } from '../json-message.ts';

const readRetailer = messageReader(RetailerSchema);
const readRetailerGroup = messageReader(RetailerGroupSchema);
const readUser = messageReader(UserSchema);
const readCreditor = messageReader(CreditorSchema);

export function directoryOperations(directory: Client<typeof DirectoryService>): Handlers {
  return {
    async registerRetailer({ path: { retailerId = '' }, body, context }) {
      const retailer = { ...readRetailer(body), retailerId };
      await movingFields([['/retailer', '']], directory.registerRetailer({ retailer }, context));
      return undefined;
    },

    async registerRetailerGroup({ path: { retailerGroupId = '' }, body, context }) {
      const retailerGroup = { ...readRetailerGroup(body), retailerGroupId };
      const registering = directory.registerRetailerGroup({ retailerGroup }, context);
      await movingFields([['/retailerGroup', '']], registering);
      return undefined;
    },

    async registerUser({ path: { userId = '' }, body, context }) {
      const user = { active: true, ...readUser(body), userId };
      await movingFields([['/user', '']], directory.registerUser({ user }, context));
      return undefined;
    },

    async registerCreditor({ path: { creditorId = '' }, body, context }) {
      const creditor = { ...readCreditor(body), creditorId };
      await movingFields([['/creditor', '']], directory.registerCreditor({ creditor }, context));
      return undefined;
    },
  };
}
