/** BureauCredentialsService: translates between the messages of the contract and the use cases. */
import { BureauCredentialsService } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { sourceOf } from '../pulls/pull.ts';
import {
  type BureauCredentialsDeps,
  listBureauCredentials,
  removeBureauCredentials,
  setBureauCredentials,
} from './bureau-credentials.ts';

/** The routes to mount. */
export function bureauCredentialsRoutes(deps: BureauCredentialsDeps): ServiceRoutes {
  return implement(BureauCredentialsService, {
    async setBureauCredentials(request, call) {
      await setBureauCredentials(deps, request, call);
      return {};
    },

    async listBureauCredentials({ retailerId, source }, call) {
      const asked = {
        retailerId,
        ...(source !== Source.UNSPECIFIED && { source: sourceOf(source) }),
      };
      return { credentials: await listBureauCredentials(deps, asked, call) };
    },

    async removeBureauCredentials({ retailerId, source }, call) {
      await removeBureauCredentials(deps, { retailerId, source: sourceOf(source) }, call);
      return {};
    },
  });
}
