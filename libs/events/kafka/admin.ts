/** Requests of an operator or of a start: an admin client, and the repetition of its requests. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import type { Admin } from 'kafkajs';
import type { KafkaConfig } from '../kafka-config.ts';
import { createClient, isRetriable, KafkaError } from './client.ts';

const POLL_MS = 100;

/**
 * Resolves to the result of `work`, for which an admin client is connected. Rejects with the `LoggableError` of `work`, or else with a
 * `KafkaError` that says `what` has failed.
 */
export async function withAdmin<T>(
  config: KafkaConfig,
  log: Log,
  what: string,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = createClient(config, log).admin();
  try {
    await admin.connect();
    return await work(admin);
  } catch (error) {
    if (error instanceof LoggableError) throw error;
    throw new KafkaError(what, error);
  } finally {
    await admin.disconnect();
  }
}

/** Repeats a request that may succeed a little later: every broker must learn of new topics and their leaders. */
export async function repeatWhileRetriable<T>(
  request: () => Promise<T>,
  withinMs: number,
): Promise<T> {
  for (const untilMs = performance.now() + withinMs; ; await delay(POLL_MS)) {
    try {
      return await request();
    } catch (error) {
      if (!isRetriable(error) || performance.now() > untilMs) throw error;
    }
  }
}
