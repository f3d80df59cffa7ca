import { identityTrust, platformKeyDigest, type Secrets } from './secrets.ts';
import { SERVICES, variableOf } from './services.ts';

/** The secrets by the names under which deploy/compose.yaml asks for them. */
export function composeVariables(secrets: Secrets): Record<string, string> {
  const own = SERVICES.flatMap((service) => {
    const { databasePassword, identity } = secrets.services[service];
    return [
      [variableOf(service, 'DATABASE_PASSWORD'), databasePassword],
      [variableOf(service, 'IDENTITY_KEY'), identity.privateKey],
    ];
  });
  return {
    PLATFORM_KEY: secrets.platformKey,
    PLATFORM_KEY_DIGESTS: platformKeyDigest(secrets),
    POSTGRES_PASSWORD: secrets.postgresPassword,
    KEY_RING: secrets.keyRing,
    REQUEST_DIGEST_KEY: secrets.requestDigestKey,
    IDENTITY_TRUST: identityTrust(secrets),
    ...Object.fromEntries(own),
  };
}
