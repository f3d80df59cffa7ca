import { join } from 'node:path';
import { completeSecrets, type Secrets } from '@creditlane/platform/secrets';
import type { AnyService } from '@creditlane/service/define-service';
import { readJson, writeJson } from './json-file.ts';
import { StartError } from './start-error.ts';

/** secrets.json: the generated settings stand beside the rest, KEY_RING as `keyRing`. */
type SecretsFile = Omit<Secrets, 'settings'> & Record<string, unknown>;

/**
 * Reads the data directory's secrets and makes those that the services need and the file lacks: all of
 * them in a new directory, those of a new service in one of an earlier version. What is there stays.
 */
export async function openSecrets(dir: string, services: readonly AnyService[]): Promise<Secrets> {
  const file = join(dir, 'secrets.json');
  const kept = await readJson<SecretsFile>(file).catch(() => {
    throw new StartError(`${file} cannot be read. Start with --reset, or another --data-dir.`);
  });
  const { settings, ...rest } = completeSecrets(kept === undefined ? {} : fromFile(kept), services);
  const named = Object.entries(settings).map(([name, value]) => [camelCase(name), value]);
  const complete = { ...rest, ...Object.fromEntries(named) };
  if (JSON.stringify(complete) !== JSON.stringify(kept)) await writeJson(file, complete);
  return { ...rest, settings };
}

function fromFile({ postgresPassword, platformKey, services, ...others }: SecretsFile): Secrets {
  const settings = Object.entries(others).map(([name, value]) => [upperCase(name), String(value)]);
  return { postgresPassword, platformKey, services, settings: Object.fromEntries(settings) };
}

/** KEY_RING as keyRing. */
function camelCase(name: string): string {
  return name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** keyRing as KEY_RING. */
function upperCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
