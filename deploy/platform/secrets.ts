// The secrets of an installation: generated, completed, and in the forms that settings take.
import { createHash, randomBytes } from 'node:crypto';
import { generateApiKey } from '@creditlane/crypto/api-key';
import type { KafkaPasswords } from '@creditlane/embedded-kafka/broker-access';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import { variablesOf } from '@creditlane/runtime/setting';
import type { AnyService } from '@creditlane/service/define-service';
import { SERVICES, type ServiceName, usesKafka } from './services.ts';

/** The secrets of an installation. In production, a secret store holds them. */
export interface Secrets {
  postgresPassword: string;
  /** Of Kafka's administrator, as which the brokers themselves authenticate. */
  kafkaPassword: string;
  /** The platform administration's API key, which demo.json shows. */
  platformKey: string;
  services: Record<ServiceName, ServiceSecrets>;
  /** The values of the settings that the platform generates, by their variables, such as KEY_RING. */
  settings: Record<string, string>;
}

export interface ServiceSecrets {
  databasePassword: string;
  /** Of the Kafka user with the service's name. */
  kafkaPassword: string;
  /** Ed25519, base64 of PKCS #8 and SPKI. */
  identity: { privateKey: string; publicKey: string };
}

/** New secrets for a new installation. */
export function makeSecrets(services: readonly AnyService[] = SERVICES): Secrets {
  return completeSecrets({}, services);
}

/** The kept secrets, and new secrets for all that the services need and `kept` lacks. */
export function completeSecrets(
  kept: Partial<Secrets>,
  services: readonly AnyService[] = SERVICES,
): Secrets {
  const keptServices: Readonly<Record<string, Partial<ServiceSecrets>>> = kept.services ?? {};
  const ofServices = services.map(({ name }) => [
    name,
    {
      databasePassword: makePassword(),
      kafkaPassword: makePassword(),
      identity: generateIdentityKeys(),
      ...keptServices[name],
    },
  ]);
  const settings = generatedSettings(services).map(({ name, generate }) => [name, generate()]);
  return {
    postgresPassword: kept.postgresPassword ?? makePassword(),
    platformKey: kept.platformKey ?? generateApiKey(false),
    kafkaPassword: kept.kafkaPassword ?? makePassword(),
    services: { ...keptServices, ...Object.fromEntries(ofServices) },
    settings: { ...Object.fromEntries(settings), ...kept.settings },
  };
}

/** The secrets of one service. Throws an Error where the installation has none for it. */
export function secretsOf({ services }: Secrets, service: string): ServiceSecrets {
  const own = (services as Record<string, ServiceSecrets | undefined>)[service];
  if (own === undefined) throw new Error(`the installation has no secrets of ${service}`);
  return own;
}

/** The passwords of the platform's Kafka: one user for each service that publishes or consumes events. */
export function kafkaPasswords(secrets: Secrets, services: readonly AnyService[]): KafkaPasswords {
  const users = services
    .filter(usesKafka)
    .map(({ name }) => [name, secretsOf(secrets, name).kafkaPassword]);
  return { admin: secrets.kafkaPassword, users: Object.fromEntries(users) };
}

/** The values of a service's own secret settings, by their variables. */
export function secretSettings(service: AnyService, secrets: Secrets): Record<string, string> {
  const values: Record<string, string> = {
    ...secrets.settings,
    PLATFORM_KEY_DIGESTS: platformKeyDigest(secrets),
  };
  const needed = variablesOf(service.settings).filter(
    ({ name, secret }) => secret && name in values,
  );
  return Object.fromEntries(needed.map(({ name }) => [name, values[name] ?? '']));
}

/** The keys by which the tokens of each service are verified. */
export function publicKeys({ services }: Secrets): Record<string, string> {
  const keys = Object.entries(services).map(([name, { identity }]) => [name, identity.publicKey]);
  return Object.fromEntries(keys);
}

/** The public keys of all services in the form of IDENTITY_TRUST. */
export function identityTrust(secrets: Secrets): string {
  return Object.entries(publicKeys(secrets))
    .map(([name, key]) => `${name}:${key}`)
    .join(',');
}

/** The digest of the platform key in the form of PLATFORM_KEY_DIGESTS: SHA-256 in hexadecimal. */
export function platformKeyDigest({ platformKey }: Pick<Secrets, 'platformKey'>): string {
  return createHash('sha256').update(platformKey).digest('hex');
}

/** The settings whose values the platform generates. Settings of the same name share one value. */
function generatedSettings(services: readonly AnyService[]) {
  return services
    .flatMap(({ settings }) => variablesOf(settings))
    .flatMap(({ name, generate }) => (generate === undefined ? [] : [{ name, generate }]));
}

function makePassword(): string {
  return randomBytes(24).toString('base64url');
}
