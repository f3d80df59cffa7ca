/** For the tests: a service mounted in memory, and clients of it. */
import type { DescService } from '@bufbuild/protobuf';
import type { Process } from '@creditlane/runtime/run';
import { type Client, connect } from './client.ts';
import { generateIdentityKeys } from './credentials/identity-keys.ts';
import { TokenSigner, TokenVerifier } from './identity.ts';
import { mountInMemory } from './memory/server.ts';
import type { ServiceRoutes } from './service.ts';
import type { UnaryCall } from './transport.ts';

/** Puts behaviour, such as a lost answer, between a client under test and its service. */
export type CallWrapper = (unary: UnaryCall) => UnaryCall;

/** Creates a client whose tokens `issuer` signs. */
export type TestClientFactory = <S extends DescService>(
  service: S,
  issuer: string,
  wrap?: CallWrapper,
) => Client<S>;

/** Mounts a service in memory. Tokens are signed and verified as in production, for these issuers. */
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
  const unary = mountInMemory(routes, { verifier, log, metrics });
  return (service, issuer, wrap = (it) => it) => {
    const key = keys.get(issuer);
    if (!key) throw new Error(`${issuer} is not among the issuers`);
    const signer = new TokenSigner({ issuer, privateKey: key.privateKey });
    return connect(service, { kind: 'memory', unary: wrap(unary) }, { signer, audience });
  };
}
