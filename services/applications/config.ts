import { KeyRing } from '@creditlane/crypto/key-ring';
import { type KafkaConfig, readKafkaConfig } from '@creditlane/events/kafka-config';
import { readServing, type Serving } from '@creditlane/rpc/serving';
import { type Env, type EnvReader, readEnv } from '@creditlane/runtime/env';

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

/** What it needs besides where it is a process of its own. */
export interface ApplicationsProcessConfig {
  applications: ApplicationsConfig;
  serving: Serving;
  kafka: KafkaConfig;
}

/** Reads the configuration. Throws a ConfigError that lists everything wrong with it. */
export function readConfig(env: Env): ApplicationsConfig {
  return readEnv(env, applicationsConfig);
}

/** Reads the configuration of a process of its own. Throws a ConfigError as `readConfig` does. */
export function readProcessConfig(env: Env): ApplicationsProcessConfig {
  return readEnv(env, (read) => ({
    applications: applicationsConfig(read),
    serving: readServing(read),
    kafka: readKafkaConfig(read),
  }));
}

function applicationsConfig(read: EnvReader): ApplicationsConfig {
  return {
    databaseUrl: read.url('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: 2, max: 200 }),
    lockTimeoutMs: read.durationMs('LOCK_TIMEOUT', { default: 2_000, min: 1, max: 4_000 }),
    keyRing: read.parsed('KEY_RING', KeyRing.parse),
    digestKey: read.secret('REQUEST_DIGEST_KEY'),
  };
}
