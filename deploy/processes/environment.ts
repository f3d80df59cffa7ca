import { HOST } from '@creditlane/local/host';
import { identityTrust } from '@creditlane/local/secrets';
import { variableOf } from '@creditlane/local/services';
import { type PlatformSettings, settingsOf } from '@creditlane/local/settings';
import { addressesOf, type Instance } from './instances.ts';

export interface ProcessSettings extends PlatformSettings {
  /** Where the Kafka cluster is and what in it is ours: the variables that `readKafkaConfig` reads. */
  kafka: Record<string, string>;
}

/** The whole environment of a service's process. */
export function environmentOf(
  instance: Instance,
  all: readonly Instance[],
  surroundings: ProcessSettings,
): Record<string, string> {
  const { service, ports } = instance;
  const { secrets, kafka } = surroundings;
  const addresses = [...addressesOf(all)].map(([name, address]) => [
    variableOf(name, 'ADDRESS'),
    address,
  ]);
  return {
    HOST,
    HTTP_PORT: String(ports.http),
    OPS_PORT: String(ports.ops),
    ...(ports.grpc !== undefined && { GRPC_PORT: String(ports.grpc), GRPC_REFLECTION: 'true' }),
    IDENTITY_KEY: secrets.services[service].identity.privateKey,
    IDENTITY_TRUST: identityTrust(secrets),
    ...Object.fromEntries(addresses),
    ...kafka,
    ...settingsOf(service, surroundings),
  };
}
