/** EnablementService: how integrations are enabled, for creditors and by retailers. */
import type { Queryable } from '@creditlane/postgres/statement';
import {
  EnablementService,
  EnablementStatus,
} from '@creditlane/proto/integrations/v1/enablement_service';
import { notFound } from '@creditlane/rpc/fault';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { findRetailerEnablement } from '../store/retailer-enablements.ts';
import { unsealConfiguration } from './configuration.ts';
import { type EnableForRetailerDeps, enableForRetailer } from './enable-for-retailer.ts';
import type { EnablementStatusName } from './enablement.ts';
import { getEnablement, type SetEnablementDeps, setEnablement } from './set-enablement.ts';

export type EnablementDeps = SetEnablementDeps &
  EnableForRetailerDeps & {
    /** For the webhook dispatcher, which acts for no integration. */
    owner: Queryable;
    log: Log;
  };

/** The routes of EnablementService to mount. */
export function enablementRoutes(deps: EnablementDeps): ServiceRoutes {
  return implement(EnablementService, {
    enableIntegration: ({ creditorId }, call) =>
      setEnablement(deps, creditorId, { status: 'ENABLED' }, call),

    disableIntegration({ creditorId, reason }, call) {
      const change = { status: 'DISABLED', reason: reason || undefined } as const;
      return setEnablement(deps, creditorId, change, call);
    },

    setIntegrationStatus({ creditorId, status }, call) {
      // The rules of the proto leave the three statuses that an integration may set.
      const change = { status: EnablementStatus[status] as EnablementStatusName };
      return setEnablement(deps, creditorId, change, call);
    },

    getIntegrationEnablement: ({ creditorId }, call) => getEnablement(deps, creditorId, call),

    enableForRetailer: (request, call) => enableForRetailer(deps, request, call),

    async getRetailerEnablement({ enablementId }) {
      const { owner, keyRing, log } = deps;
      const found = await findRetailerEnablement(owner, enablementId);
      if (found === undefined) {
        throw notFound('enablement_not_found', 'There is no such enablement.');
      }
      const { retailerId, retailerName } = found;
      const configJson = unsealConfiguration(keyRing, found);
      if (configJson === undefined) {
        log.error(
          { enablementId },
          'a configuration cannot be decrypted, so its webhook is not sent',
        );
        throw notFound('enablement_unreadable', 'The configuration cannot be decrypted.');
      }
      return { retailerId, retailerName, configJson };
    },
  });
}
