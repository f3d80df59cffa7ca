// deploy/.env: the secrets of a compose installation, by the names that deploy/compose.yaml refers to.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { writePrivateFile } from '@creditlane/platform/private-file';
import {
  makeSecrets,
  platformKeyDigest,
  type ServiceSecrets,
  secretsOf,
} from '@creditlane/platform/secrets';
import { usesKafka, variableOf } from '@creditlane/platform/services';
import type { AnyService } from '@creditlane/service/define-service';

type Variables = Record<string, string>;

/**
 * Makes the file, or adds its missing variables. Only its owner can read the file afterwards, also where
 * others could before.
 */
export async function openEnvFile(
  file: string,
  services: readonly AnyService[],
): Promise<'made' | 'completed' | 'unchanged'> {
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const text = completeEnvFile(kept, services);
  if (text === kept) {
    await chmod(file, 0o600);
    return 'unchanged';
  }
  await writePrivateFile(file, text);
  return kept === '' ? 'made' : 'completed';
}

/** The text of the file with a line added for each missing variable. Existing lines are kept unchanged. */
export function completeEnvFile(text: string, services: readonly AnyService[]): string {
  const kept = parseEnvFile(text);
  const missing = Object.entries(composeVariables(services, kept))
    .filter(([name]) => kept[name] === undefined)
    .map(([name, value]) => `${name}='${value}'\n`);
  const newline = text === '' || text.endsWith('\n') ? '' : '\n';
  return missing.length === 0 ? text : `${text}${newline}${missing.join('')}`;
}

/** Every variable that compose.yaml refers to: the kept values, and new ones for the others. */
export function composeVariables(services: readonly AnyService[], kept: Variables = {}): Variables {
  const secrets = makeSecrets(services);
  const platformKey = kept.PLATFORM_KEY ?? secrets.platformKey;
  const ofServices = services.map((service) => {
    const { name, database, calls } = service;
    const { databasePassword, kafkaPassword, identity } = secretsOf(secrets, name);
    return {
      ...(usesKafka(service) && { [variableOf(name, 'KAFKA_PASSWORD')]: kafkaPassword }),
      ...(database && { [variableOf(name, 'DATABASE_PASSWORD')]: databasePassword }),
      ...(calls && identityVariables(name, identity, kept)),
    };
  });
  return {
    PLATFORM_KEY: platformKey,
    PLATFORM_KEY_DIGESTS: platformKeyDigest({ platformKey }),
    // The services reach PostgreSQL and Kafka over a network of this host alone.
    ALLOW_PLAINTEXT: 'true',
    POSTGRES_PASSWORD: secrets.postgresPassword,
    KAFKA_PASSWORD: secrets.kafkaPassword,
    ...secrets.settings,
    ...Object.assign({}, ...ofServices),
    ...kept,
  };
}

/**
 * The variables of a service's identity: the key that signs its calls, and the public keys that other
 * services trust. A file of an earlier version has the public keys of all services in IDENTITY_TRUST, with
 * two keys of a service whose key is being replaced.
 */
function identityVariables(
  service: string,
  { privateKey, publicKey }: ServiceSecrets['identity'],
  kept: Variables,
): Variables {
  const keyName = variableOf(service, 'IDENTITY_KEY');
  const keptKey = kept[keyName];
  const trusted = (kept.IDENTITY_TRUST ?? '')
    .split(',')
    .filter((entry) => entry.startsWith(`${service}:`));
  if (keptKey !== undefined && trusted.length === 0) {
    trusted.push(`${service}:${publicKeyOf(keptKey)}`);
  }
  if (keptKey === undefined) trusted.push(`${service}:${publicKey}`);
  return {
    [keyName]: keptKey ?? privateKey,
    [variableOf(service, 'IDENTITY_TRUST')]: trusted.join(','),
  };
}

/** The public key, base64 of SPKI, of a private one in base64 of PKCS #8. */
function publicKeyOf(privateKey: string): string {
  const key = createPrivateKey({
    key: Buffer.from(privateKey, 'base64'),
    format: 'der',
    type: 'pkcs8',
  });
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64');
}

/** The variables of a file with lines such as NAME='value'. One without a value is missing, as to compose.yaml. */
export function parseEnvFile(text: string): Variables {
  const lines = text.split('\n').map((line) => /^\s*(\w+)=(['"]?)(.*)\2\s*$/.exec(line));
  return Object.fromEntries(lines.flatMap((line) => (line?.[3] ? [[line[1], line[3]]] : [])));
}
