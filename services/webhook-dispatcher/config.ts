import type { EgressPolicy } from '@creditlane/egress-rules/destination-url';
import { readEgressPolicy } from '@creditlane/egress-rules/egress-policy';
import { type KafkaConfig, readKafkaConfig } from '@creditlane/events/kafka-config';
import { type Calling, readCalling } from '@creditlane/rpc/calling';
import { readServing, type Serving } from '@creditlane/rpc/serving';
import { type Env, type EnvReader, readEnv } from '@creditlane/runtime/env';
import { parseDelays } from './retry-delays.ts';
import { RETRY_DELAYS_MS } from './sending/schedule.ts';

/** What the dispatcher needs to know before it starts. */
export interface WebhookDispatcherConfig {
  databaseUrl: string;
  /** Connections at most. */
  databasePoolSize: number;
  egress: EgressPolicy;
  /** For a whole exchange with a receiver. */
  deadlineMs: number;
  /** The pauses between the attempts of a delivery. */
  retryDelaysMs: readonly number[];
  /** How long a failing delivery holds back those behind it. */
  holdMs: number;
  /** How long a destination may go without a success before it is disabled. */
  patienceMs: number;
  /** Requests under way at once, to everyone together. */
  maxInFlight: number;
  maxInFlightPerDestination: number;
  /** How soon the deliveries of a process that died are taken over. */
  leaseMs: number;
  /** How late, at most, a change of a destination's URL or secrets takes effect. */
  destinationsCacheMs: number;
}

const HOUR_MS = 3_600_000;

/** What it needs besides where it is a process of its own. */
export interface WebhookDispatcherProcessConfig {
  dispatcher: WebhookDispatcherConfig;
  serving: Serving;
  calling: Calling<'integrations'>;
  kafka: KafkaConfig;
}

/** Reads the configuration. Throws a ConfigError that lists everything wrong with it. */
export function readConfig(env: Env): WebhookDispatcherConfig {
  return readEnv(env, dispatcherConfig);
}

/** Reads the configuration of a process of its own. Throws a ConfigError as `readConfig` does. */
export function readProcessConfig(env: Env): WebhookDispatcherProcessConfig {
  return readEnv(env, (read) => ({
    dispatcher: dispatcherConfig(read),
    serving: readServing(read),
    calling: readCalling(read, 'webhook-dispatcher', ['integrations']),
    kafka: readKafkaConfig(read),
  }));
}

function dispatcherConfig(read: EnvReader): WebhookDispatcherConfig {
  return {
    databaseUrl: read.url('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 8, min: 3, max: 200 }),
    egress: readEgressPolicy(read, 'EGRESS'),
    deadlineMs: read.durationMs('DELIVERY_DEADLINE', { default: 15_000, min: 50, max: 60_000 }),
    retryDelaysMs: read.parsed('RETRY_DELAYS', parseDelays, RETRY_DELAYS_MS),
    holdMs: read.durationMs('ORDER_HOLD', { default: HOUR_MS, min: 1, max: 24 * HOUR_MS }),
    patienceMs: read.durationMs('DISABLE_AFTER', { default: 120 * HOUR_MS, min: 1_000 }),
    maxInFlight: read.integer('MAX_IN_FLIGHT', { default: 512, min: 1, max: 10_000 }),
    maxInFlightPerDestination: read.integer('MAX_IN_FLIGHT_PER_DESTINATION', {
      default: 64,
      min: 1,
      max: 1_000,
    }),
    leaseMs: read.durationMs('LEASE', { default: 6_000, min: 1_000, max: 30_000 }),
    destinationsCacheMs: read.durationMs('DESTINATIONS_CACHE', {
      default: 1_000,
      min: 0,
      max: 1_000,
    }),
  };
}
