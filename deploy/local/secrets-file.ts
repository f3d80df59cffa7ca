// secrets.json of a data directory, completed when services were added.
import { join } from 'node:path';
import { completeSecrets, type Secrets } from '@creditlane/platform/secrets';
import type { AnyService } from '@creditlane/service/define-service';
import { readDataFile, writeJson } from './json-file.ts';
import { StartError } from './start-error.ts';

/** The contents of secrets.json. A generated setting is a field of its own: KEY_RING is `keyRing`. */
type SecretsFile = Omit<Secrets, 'settings'> & Record<string, unknown>;

/**
 * Reads the secrets of a data directory, generates the missing ones, and saves them. In a new directory
 * all secrets are missing; in a directory of an earlier version, those of new services. Existing secrets
 * are kept. Throws `StartError` when the file cannot be read.
 */
export async function openSecrets(dir: string, services: readonly AnyService[]): Promise<Secrets> {
  const kept = await readDataFile<SecretsFile>(fileIn(dir));
  const { settings, ...rest } = completeSecrets(kept === undefined ? {} : fromFile(kept), services);
  const named = Object.entries(settings).map(([name, value]) => [camelCase(name), value]);
  const complete = { ...rest, ...Object.fromEntries(named) };
  if (JSON.stringify(complete) !== JSON.stringify(kept)) {
    await writeJson(fileIn(dir), complete);
  }
  return { ...rest, settings };
}

/** The secrets of a data directory, which is left as it is. Throws `StartError` when it has none that can be read. */
export async function readSecrets(dir: string): Promise<Secrets> {
  const kept = await readDataFile<SecretsFile>(fileIn(dir));
  if (kept === undefined) throw new StartError(`${dir} has no secrets.`);
  return fromFile(kept);
}

const fileIn = (dir: string) => join(dir, 'secrets.json');

function fromFile({
  postgresPassword,
  kafkaPassword,
  platformKey,
  services,
  ...others
}: SecretsFile): Secrets {
  const entries = Object.entries(others).map(([name, value]) => [upperCase(name), String(value)]);
  const settings = Object.fromEntries(entries);
  return { postgresPassword, kafkaPassword, platformKey, services, settings };
}

/** KEY_RING as keyRing. */
function camelCase(name: string): string {
  return name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** keyRing as KEY_RING. */
function upperCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
