/** The Secrets that the Helm chart refers to, as an example of how the External Secrets Operator makes them. */
import type { AnyService } from '@creditlane/service/define-service';
import { stringify } from 'yaml';
import { secretKeys } from './secret-manifests.ts';

/** The release of the example. */
const PREFIX = 'creditlane';

const INTRODUCTION = `\
# Made by "npm run generate" from the manifests in services/*/service.ts. An example for the External Secrets Operator: every
# Secret of the release creditlane, from one entry each in the store, such as creditlane/decisions, with the same keys.
# The chart does not install it: copy it, and change the name of the store, and "creditlane" to the PREFIX of README.md.
# KAFKA_SASL_PASSWORD and creditlane-topics are needed with kafka.saslMechanism, creditlane-databases with databases.enabled.
# The Secrets with -tls are needed with tls.enabled and without tls.issuer, by which cert-manager makes them.
`;

/** The text of charts/creditlane/external-secrets.yaml. */
export function externalSecrets(services: readonly AnyService[]): string {
  const keys: [name: string, keys: string[]][] = [
    ...services.map((it): [string, string[]] => [it.name, secretKeys(it)]),
    ['identity-trust', ['IDENTITY_TRUST']],
    ['topics', ['KAFKA_SASL_PASSWORD']],
    ['databases', ['ADMIN_DATABASE_URL', 'DATABASES']],
    ...services.map(({ name }): [string, string[]] => [
      `${name}-tls`,
      ['tls.crt', 'tls.key', 'ca.crt'],
    ]),
  ];
  const manifests = keys
    // A Secret without keys is referred to by nothing.
    .filter(([, keysOfSecret]) => keysOfSecret.length > 0)
    .map(([name, keysOfSecret]) => `---\n${stringify(manifestOf(name, keysOfSecret))}`);
  return INTRODUCTION + manifests.join('');
}

function manifestOf(secret: string, keys: readonly string[]): object {
  const name = `${PREFIX}-${secret}`;
  return {
    apiVersion: 'external-secrets.io/v1',
    kind: 'ExternalSecret',
    metadata: { name },
    spec: {
      refreshInterval: '5m',
      secretStoreRef: { kind: 'ClusterSecretStore', name: 'vault' },
      target: { name },
      data: keys.map((key) => ({
        secretKey: key,
        remoteRef: { key: `${PREFIX}/${secret}`, property: key },
      })),
    },
  };
}
