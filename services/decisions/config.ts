import { type Env, readEnv } from '@creditlane/runtime/env';

/** What the decisions service needs to know before it starts. */
export interface DecisionsConfig {
  databaseUrl: string;
  /** Connections at most. */
  databasePoolSize: number;
  /** How long a write waits for another one on the same submission. */
  lockTimeoutMs: number;
}

/** Reads the configuration. Throws a ConfigError that lists everything wrong with it. */
export function readConfig(env: Env): DecisionsConfig {
  return readEnv(env, (read) => ({
    databaseUrl: read.url('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: 2, max: 200 }),
    lockTimeoutMs: read.durationMs('LOCK_TIMEOUT', { default: 2_000, min: 1, max: 4_000 }),
  }));
}
