/** AccessService: tells the gateway who the caller of a request is, what it may access, and how many requests it may make. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Database } from '@creditlane/postgres/database';
import { Caller } from '@creditlane/proto/common/v1/access';
import { AccessService, GrantSide } from '@creditlane/proto/integrations/v1/integrations_service';
import { unauthenticated } from '@creditlane/rpc/fault';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { isUuid } from '@creditlane/runtime/ids';
import { listGrants } from './grants/list-grants.ts';
import type { PlatformKeys } from './keys/key.ts';
import { takeRequests } from './rate-limit/take-requests.ts';
import { checkGrants } from './store/grants.ts';
import { findKeyOwner } from './store/keys.ts';

export interface AccessDeps {
  database: Database;
  platformKeys: () => PlatformKeys;
}

/** The routes of AccessService to mount. */
export function accessRoutes({ database, platformKeys }: AccessDeps): ServiceRoutes {
  const { pool } = database;
  return implement(AccessService, {
    async authenticate({ keyDigest }) {
      const owner =
        platformKeys().get(Buffer.from(keyDigest).toString('hex')) ??
        (await findKeyOwner(pool, keyDigest));
      if (!owner) throw unauthenticated('key_unknown', 'The key is not known.');
      const { kind, permissions, rateLimit, ...ids } = owner;
      const caller = kind === 'platform' ? Caller.PLATFORM : Caller.INTEGRATION;
      const limited = rateLimit && { rateLimit };
      return { ...ids, caller, permissions: [...permissions], ...limited };
    },

    takeRequests: (request, call) => takeRequests(database, request, call),

    checkGrants: ({ integrationId, retailerId, creditorId }) =>
      checkGrants(pool, integrationId, uuidOrNull(retailerId), uuidOrNull(creditorId)),

    async listGrants({ integrationId, side, ...page }) {
      const holder = {
        integrationId,
        side: side === GrantSide.RETAILER ? ('retailer' as const) : ('creditor' as const),
      };
      const { items, nextCursor } = await listGrants(pool, holder, page);
      const grants = items.map(({ grantedAt, ...grant }) => ({
        ...grant,
        grantedAt: timestampFromDate(grantedAt),
      }));
      return { grants, nextCursor };
    },
  });
}

// An empty id, which the request sends for a side that does not matter, and an id that is no UUID have no grant.
function uuidOrNull(id: string): string | null {
  return isUuid(id) ? id.toLowerCase() : null;
}
