import { type KafkaConfig, readKafkaConfig } from '@creditlane/events/kafka-config';
import { type Calling, readCalling } from '@creditlane/rpc/calling';
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
  calling: Calling<'applications'>;
  kafka: KafkaConfig;
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
    calling: readCalling(read, 'decisions', ['applications']),
    kafka: readKafkaConfig(read),
  }));
}

function decisionsConfig(read: EnvReader): DecisionsConfig {
  return {
    databaseUrl: read.url('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: 2, max: 200 }),
    lockTimeoutMs: read.durationMs('LOCK_TIMEOUT', { default: 2_000, min: 1, max: 4_000 }),
  };
}
