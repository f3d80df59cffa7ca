import type { DescService } from '@bufbuild/protobuf';
import type { Transport } from '@connectrpc/connect';
import type { Process } from '@creditlane/runtime/run';
import { type Client, connect } from './client.ts';
import { generateIdentityKeys, TokenSigner, TokenVerifier } from './identity.ts';
import { mountInMemory } from './memory/server.ts';
import type { ServiceRoutes } from './service.ts';

/** What lies between a client under test and its service. */
export type TransportWrapper = (transport: Transport) => Transport;

/** Clients of a service under test, by the issuer that signs their calls; straight to it without a way. */
export type TestClientFactory = <S extends DescService>(
  service: S,
  issuer: string,
  way?: TransportWrapper,
) => Client<S>;

/** Mounts a service in memory for a test. Its tokens are real, and it trusts these issuers alone. */
export function mountForTest(
  audience: string,
  routes: readonly ServiceRoutes[],
  issuers: readonly string[],
  { log, metrics }: Process,
): TestClientFactory {
  const keys = new Map(issuers.map((issuer) => [issuer, generateIdentityKeys()]));
  const trusted = Object.fromEntries(
    [...keys].map(([issuer, { publicKey }]) => [issuer, publicKey]),
  );
  const verifier = new TokenVerifier({ audience, trusted });
  const transport = mountInMemory(routes, { verifier, log, metrics });
  return (service, issuer, way = (it) => it) => {
    const key = keys.get(issuer);
    if (!key) throw new Error(`${issuer} is not among the issuers`);
    const signer = new TokenSigner({ issuer, privateKey: key.privateKey });
    return connect(service, { kind: 'memory', transport: way(transport) }, { signer, audience });
  };
}
