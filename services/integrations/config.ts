import { KeyRing } from '@creditlane/crypto/key-ring';
import type { EgressPolicy } from '@creditlane/egress-rules/destination-url';
import { readEgressPolicy } from '@creditlane/egress-rules/egress-policy';
import { readServing, type Serving } from '@creditlane/rpc/serving';
import { type Env, type EnvReader, readEnv } from '@creditlane/runtime/env';
import { type PlatformKeys, parsePlatformKeys } from './key.ts';

/** What the integrations service needs to know before it starts. */
export interface IntegrationsConfig {
  databaseUrl: string;
  /** Connections at most. */
  databasePoolSize: number;
  /** Seals the webhook secrets. */
  keyRing: KeyRing;
  platformKeys: PlatformKeys;
  /** Where destinations may be: what the webhook dispatcher allows, and no more. */
  destinations: EgressPolicy;
}

/** What it needs besides where it is a process of its own. */
export interface IntegrationsProcessConfig {
  integrations: IntegrationsConfig;
  serving: Serving;
}

/** Reads the configuration. Throws a ConfigError that lists everything wrong with it. */
export function readConfig(env: Env): IntegrationsConfig {
  return readEnv(env, integrationsConfig);
}

/** Reads the configuration of a process of its own. Throws a ConfigError as `readConfig` does. */
export function readProcessConfig(env: Env): IntegrationsProcessConfig {
  return readEnv(env, (read) => ({
    integrations: integrationsConfig(read),
    serving: readServing(read),
  }));
}

function integrationsConfig(read: EnvReader): IntegrationsConfig {
  return {
    databaseUrl: read.url('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: 2, max: 200 }),
    keyRing: read.parsed('KEY_RING', KeyRing.parse),
    platformKeys: read.parsed('PLATFORM_KEY_DIGESTS', parsePlatformKeys),
    destinations: readEgressPolicy(read, 'DESTINATIONS'),
  };
}
