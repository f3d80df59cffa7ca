/** The Secrets that the Helm chart refers to, as manifests, for clusters without a store of secrets. */
import { usesKafka, variableOf } from '@creditlane/platform/services';
import type { AnyService } from '@creditlane/service/define-service';
import { stringify } from 'yaml';
import { serviceFacts } from './service-facts.ts';

const KAFKA_PASSWORD = 'KAFKA_SASL_PASSWORD';

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
    const entries = secretKeys(service).map((key) => {
      if (key === KAFKA_PASSWORD)
        return [key, requireValue(variableOf(service.name, 'KAFKA_PASSWORD'))];
      // Passwords and signing keys are each service's own; settings of one name have one value.
      const isOwn = key === 'DATABASE_PASSWORD' || key === 'IDENTITY_KEY';
      return [key, requireValue(isOwn ? variableOf(service.name, key) : key)];
    });
    return [service.name, Object.fromEntries(entries)];
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
    ['topics', { [KAFKA_PASSWORD]: requireValue('KAFKA_PASSWORD') }],
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

/** The keys of a service's own Secret where Kafka authenticates by passwords. */
export function secretKeys(service: AnyService): string[] {
  return [...serviceFacts(service).secrets, ...(usesKafka(service) ? [KAFKA_PASSWORD] : [])];
}
