import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { generateApiKey } from '@creditlane/crypto/api-key';
import { generateIdentityKeys } from '@creditlane/rpc/identity';
import { readJson, writeJson } from './json-file.ts';
import { SERVICES, type ServiceName } from './services.ts';
import { StartError } from './start-error.ts';

/**
 * What a platform's secret store would hold, made once for this data directory and readable by its
 * owner alone.
 */
export interface Secrets {
  postgresPassword: string;
  /** The platform administration's API key, which demo.json shows. */
  platformKey: string;
  /** For `KeyRing.parse`. */
  keyRing: string;
  /** Keys the applications service's digests of requests; base64 of 32 bytes. */
  requestDigestKey: string;
  services: Record<ServiceName, ServiceSecrets>;
}

export interface ServiceSecrets {
  databasePassword: string;
  /** Ed25519, base64 of PKCS #8 and SPKI. */
  identity: { privateKey: string; publicKey: string };
}

/** Reads the data directory's secrets, or makes them. */
export async function openSecrets(dir: string): Promise<Secrets> {
  const file = join(dir, 'secrets.json');
  const kept = await readJson<Secrets>(file).catch(() => {
    throw new StartError(`${file} cannot be read. Start with --reset, or another --data-dir.`);
  });
  if (kept !== undefined) return kept;
  const secrets = makeSecrets();
  await writeJson(file, secrets);
  return secrets;
}

/** New secrets for a platform that begins. */
export function makeSecrets(): Secrets {
  const services = {} as Record<ServiceName, ServiceSecrets>;
  for (const name of SERVICES) {
    services[name] = { databasePassword: randomPassword(), identity: generateIdentityKeys() };
  }
  return {
    postgresPassword: randomPassword(),
    platformKey: generateApiKey(false),
    keyRing: `local-1:${randomBytes(32).toString('base64')}`,
    requestDigestKey: randomBytes(32).toString('base64'),
    services,
  };
}

/** By what each service's tokens are believed. */
export function publicKeys({ services }: Secrets): Record<string, string> {
  const keys = Object.entries(services).map(([name, { identity }]) => [name, identity.publicKey]);
  return Object.fromEntries(keys);
}

/** The same as IDENTITY_TRUST has it. */
export function identityTrust(secrets: Secrets): string {
  return Object.entries(publicKeys(secrets))
    .map(([name, key]) => `${name}:${key}`)
    .join(',');
}

/** What PLATFORM_KEY_DIGESTS has of the platform's key. */
export function platformKeyDigest({ platformKey }: Secrets): string {
  return createHash('sha256').update(platformKey).digest('hex');
}

function randomPassword(): string {
  return randomBytes(24).toString('base64url');
}
