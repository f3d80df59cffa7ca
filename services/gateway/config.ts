import { type Calling, readCalling } from '@creditlane/rpc/calling';
import { type Env, type EnvReader, readEnv } from '@creditlane/runtime/env';
import type { RateLimitConfig } from './rate-limit.ts';

/** What the gateway needs to know before it starts. */
export interface GatewayConfig {
  host: string;
  /** 0 takes any free one. */
  port: number;
  /** For each integration and each platform key, on each replica. */
  rateLimit: RateLimitConfig;
  /** How long a request may take before it is answered with 503. */
  deadlineMs: number;
  /** Requests under way at the same time; one more is answered with 503. */
  maxUnderWay: number;
  /** How long a key, a grant, or the lack of one is remembered. */
  accessCacheMs: number;
  /** How long requests under way may go on once the gateway closes. */
  graceMs: number;
}

/** Withdrawn keys and grants are promised to stop within 5 s of the answer; the rest is for the way. */
const MAX_ACCESS_CACHE_MS = 4_500;

/** What the gateway needs besides where it is a process of its own. */
export interface GatewayProcessConfig {
  gateway: GatewayConfig;
  calling: Calling<'applications' | 'decisions' | 'integrations'>;
  opsPort: number;
}

/** Reads the configuration. Throws a ConfigError that lists everything wrong with it. */
export function readConfig(env: Env): GatewayConfig {
  return readEnv(env, gatewayConfig);
}

/** Reads the configuration of a process of its own. Throws a ConfigError as `readConfig` does. */
export function readProcessConfig(env: Env): GatewayProcessConfig {
  return readEnv(env, (read) => ({
    gateway: gatewayConfig(read),
    calling: readCalling(read, 'gateway', ['applications', 'decisions', 'integrations']),
    opsPort: read.integer('OPS_PORT', { default: 9090, min: 0, max: 65_535 }),
  }));
}

function gatewayConfig(read: EnvReader): GatewayConfig {
  return {
    host: read.string('HOST', '0.0.0.0'),
    port: read.integer('PORT', { default: 8080, min: 0, max: 65_535 }),
    rateLimit: {
      requests: read.integer('RATE_LIMIT_REQUESTS', { default: 10_000, min: 1 }),
      windowMs: read.durationMs('RATE_LIMIT_WINDOW', { default: 1_000, min: 1_000 }),
    },
    deadlineMs: read.durationMs('REQUEST_DEADLINE', { default: 10_000, min: 100, max: 60_000 }),
    maxUnderWay: read.integer('MAX_REQUESTS_UNDER_WAY', { default: 1_000, min: 1 }),
    accessCacheMs: read.durationMs('ACCESS_CACHE_TIME', {
      default: 4_000,
      min: 0,
      max: MAX_ACCESS_CACHE_MS,
    }),
    graceMs: read.durationMs('CLOSE_GRACE', { default: 8_000, min: 0, max: 60_000 }),
  };
}
