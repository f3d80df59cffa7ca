/** The Secrets that the Helm chart refers to, as manifests, for clusters without a store of secrets. */
import { usesKafka, variableOf } from '@creditlane/platform/services';
import type { AnyService } from '@creditlane/service/define-service';
import { stringify } from 'yaml';
import { serviceFacts } from './service-facts.ts';

export interface SecretOptions {
  /** The chart's `secretPrefix`: by default the release's name, with -creditlane unless that is in it. */
  prefix: string;
  /** A database of the server, with a user who may create databases and roles; for the Job that creates them. */
  adminDatabaseUrl?: string | undefined;
}

/** The Secrets as one YAML text. `variables` has what compose.yaml refers to, as deploy/.env has it. */
export function secretManifests(
  services: readonly AnyService[],
  variables: Readonly<Record<string, string>>,
  { prefix, adminDatabaseUrl }: SecretOptions,
): string {
  const requireValue = (name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`there is no value for ${name}`);
    return value;
  };
  const ofServices = services.map((service): [string, Record<string, string>] => {
    // Passwords and signing keys are each service's own; settings of one name have one value.
    const names = serviceFacts(service).secrets.map((name) => {
      const isOwn = name === 'DATABASE_PASSWORD' || name === 'IDENTITY_KEY';
      return [name, requireValue(isOwn ? variableOf(service.name, name) : name)];
    });
    const kafka = usesKafka(service) && {
      KAFKA_SASL_PASSWORD: requireValue(variableOf(service.name, 'KAFKA_PASSWORD')),
    };
    return [service.name, { ...Object.fromEntries(names), ...kafka }];
  });
  const trusted = services
    .filter(({ calls }) => calls !== undefined)
    .map(({ name }) => requireValue(variableOf(name, 'IDENTITY_TRUST')));
  const databases = services.flatMap(({ name, database }) =>
    database ? [`${database.name}:${requireValue(variableOf(name, 'DATABASE_PASSWORD'))}`] : [],
  );
  const contents: [string, Record<string, string>][] = [
    ...ofServices,
    ['identity-trust', { IDENTITY_TRUST: trusted.join(',') }],
    ['topics', { KAFKA_SASL_PASSWORD: requireValue('KAFKA_PASSWORD') }],
    ...(adminDatabaseUrl === undefined
      ? []
      : ([
          ['databases', { ADMIN_DATABASE_URL: adminDatabaseUrl, DATABASES: databases.join(',') }],
        ] satisfies [string, Record<string, string>][])),
  ];
  const manifests = contents.map(([name, stringData]) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${prefix}-${name}` },
    stringData,
  }));
  return manifests.map((manifest) => `---\n${stringify(manifest, { lineWidth: 0 })}`).join('');
}
