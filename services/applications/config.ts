import { KeyRing } from '@creditlane/crypto/key-ring';
import { type Env, readEnv } from '@creditlane/runtime/env';

/** What the applications service needs to know before it starts. */
export interface ApplicationsConfig {
  databaseUrl: string;
  /** Connections at most. */
  databasePoolSize: number;
  /** How long a write waits for another one on the same application. */
  lockTimeoutMs: number;
  /** Seals the applicants. */
  keyRing: KeyRing;
  /** Keys the digests of requests that are remembered. Under another one, repeats look like others. */
  digestKey: Buffer;
}

/** Reads the configuration. Throws a ConfigError that lists everything wrong with it. */
export function readConfig(env: Env): ApplicationsConfig {
  return readEnv(env, (read) => ({
    databaseUrl: read.url('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: 2, max: 200 }),
    lockTimeoutMs: read.durationMs('LOCK_TIMEOUT', { default: 2_000, min: 1, max: 4_000 }),
    keyRing: read.parsed('KEY_RING', KeyRing.parse),
    digestKey: read.secret('REQUEST_DIGEST_KEY'),
  }));
}
