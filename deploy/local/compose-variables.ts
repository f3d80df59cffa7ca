import {
  identityTrust,
  platformKeyDigest,
  type Secrets,
  secretsOf,
} from '@creditlane/platform/secrets';
import { SERVICES, variableOf } from '@creditlane/platform/services';

/** The secrets by the names under which deploy/compose.yaml asks for them. */
export function composeVariables(secrets: Secrets): Record<string, string> {
  const own = SERVICES.flatMap(({ name: service }) => {
    const { databasePassword, identity } = secretsOf(secrets, service);
    return [
      [variableOf(service, 'DATABASE_PASSWORD'), databasePassword],
      [variableOf(service, 'IDENTITY_KEY'), identity.privateKey],
    ];
  });
  return {
    PLATFORM_KEY: secrets.platformKey,
    PLATFORM_KEY_DIGESTS: platformKeyDigest(secrets),
    POSTGRES_PASSWORD: secrets.postgresPassword,
    ...secrets.settings,
    IDENTITY_TRUST: identityTrust(secrets),
    ...Object.fromEntries(own),
  };
}
