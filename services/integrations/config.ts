import { KeyRing } from '@creditlane/crypto/key-ring';
import { type Env, readEnv } from '@creditlane/runtime/env';
import { type PlatformKeys, parsePlatformKeys } from './key.ts';

/** What the integrations service needs to know before it starts. */
export interface IntegrationsConfig {
  databaseUrl: string;
  /** Connections at most. */
  databasePoolSize: number;
  /** Seals the webhook secrets. */
  keyRing: KeyRing;
  platformKeys: PlatformKeys;
}

/** Reads the configuration. Throws a ConfigError that lists everything wrong with it. */
export function readConfig(env: Env): IntegrationsConfig {
  return readEnv(env, (read) => ({
    databaseUrl: read.url('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: 2, max: 200 }),
    keyRing: read.parsed('KEY_RING', KeyRing.parse),
    platformKeys: read.parsed('PLATFORM_KEY_DIGESTS', parsePlatformKeys),
  }));
}
