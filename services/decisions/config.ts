import type { Target } from '@creditlane/rpc/client';
import { readServing, type Serving } from '@creditlane/rpc/serving';
import { type Env, type EnvReader, readEnv } from '@creditlane/runtime/env';

/** What the decisions service needs to know before it starts. */
export interface DecisionsConfig {
  databaseUrl: string;
  /** Connections at most. */
  databasePoolSize: number;
  /** How long a write waits for another one on the same submission. */
  lockTimeoutMs: number;
}

/** What it needs besides where it is a process of its own. */
export interface DecisionsProcessConfig {
  decisions: DecisionsConfig;
  serving: Serving;
  /** By the address of its gRPC port. */
  peers: { applications: Target };
  /** PKCS8 in base64: what the service signs its own calls with. */
  identityKey: string;
}

/** Reads the configuration. Throws a ConfigError that lists everything wrong with it. */
export function readConfig(env: Env): DecisionsConfig {
  return readEnv(env, decisionsConfig);
}

/** Reads the configuration of a process of its own. Throws a ConfigError as `readConfig` does. */
export function readProcessConfig(env: Env): DecisionsProcessConfig {
  return readEnv(env, (read) => ({
    decisions: decisionsConfig(read),
    serving: readServing(read),
    peers: { applications: { kind: 'grpc', address: read.string('APPLICATIONS_ADDRESS') } },
    identityKey: read.string('IDENTITY_KEY'),
  }));
}

function decisionsConfig(read: EnvReader): DecisionsConfig {
  return {
    databaseUrl: read.url('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: 2, max: 200 }),
    lockTimeoutMs: read.durationMs('LOCK_TIMEOUT', { default: 2_000, min: 1, max: 4_000 }),
  };
}
