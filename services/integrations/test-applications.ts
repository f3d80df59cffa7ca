/** A fake of the applications service, which the tests of this service cannot start. */
import { DirectoryService } from '@creditlane/proto/applications/v1/directory_service';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import { unavailable } from '@creditlane/rpc/fault';
import { TokenSigner, TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import type { Process } from '@creditlane/runtime/run';

export interface FakeApplications {
  /** The names of the retailers, by id. */
  retailers: Map<string, string>;
  isUnavailable: boolean;
}

/** The fake's endpoint, and the signer whose tokens the fake accepts. */
export function startFakeApplications(state: FakeApplications, { log, metrics }: Process) {
  const { privateKey, publicKey } = generateIdentityKeys();
  const audience = 'applications';
  const verifier = new TokenVerifier({ audience, trusted: { integrations: publicKey } });
  const routes = fakeService(DirectoryService, {
    async getRetailers({ retailerIds }) {
      if (state.isUnavailable) throw unavailable('unavailable for the test');
      const retailers = retailerIds.flatMap((retailerId) => {
        const name = state.retailers.get(retailerId);
        return name === undefined ? [] : [{ retailerId, name }];
      });
      return { retailers };
    },
  });
  const unary = mountInMemory([routes], { verifier, log, metrics });
  return {
    signer: new TokenSigner({ issuer: 'integrations', privateKey }),
    endpoints: { applications: { kind: 'memory', unary } as const },
  };
}
