// The environment of a service's process.
import { HOST } from '@creditlane/local/host';
import { type PlatformSettings, settingsOf } from '@creditlane/local/settings';
import { identityTrust, secretsOf } from '@creditlane/platform/secrets';
import { addressVariable } from '@creditlane/rpc/client-settings';
import { processVariables } from '@creditlane/service/settings';
import { addressesOf, type Instance } from './instances.ts';

export interface ProcessSettings extends PlatformSettings {
  /**
   * The values of the variables of `KAFKA`. Without a user name each service is the user of its own name,
   * with the password from the secrets.
   */
  kafka: Record<string, string>;
}

/** The whole environment of a service's process: values for the variables of its `processSettings`. */
export function environmentOf(
  instance: Instance,
  all: readonly Instance[],
  platform: ProcessSettings,
): Record<string, string> {
  const { service, ports } = instance;
  const { secrets, kafka } = platform;
  const addresses = [...addressesOf(all)].map(([name, address]) => [
    addressVariable(name),
    address,
  ]);
  const available: Record<string, string> = {
    HOST,
    HTTP_PORT: String(ports.http),
    OPS_PORT: String(ports.ops),
    GRPC_PORT: String(ports.grpc),
    GRPC_REFLECTION: 'true',
    IDENTITY_KEY: secretsOf(secrets, service.name).identity.privateKey,
    IDENTITY_TRUST: identityTrust(secrets),
    ...Object.fromEntries(addresses),
    KAFKA_SASL_USERNAME: service.name,
    KAFKA_SASL_PASSWORD: secretsOf(secrets, service.name).kafkaPassword,
    ...kafka,
  };
  const read = new Set(processVariables(service).map(({ name }) => name));
  const needed = Object.entries(available).filter(([name]) => read.has(name));
  return { ...Object.fromEntries(needed), ...settingsOf(service, platform) };
}
