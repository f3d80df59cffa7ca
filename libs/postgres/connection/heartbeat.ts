/** Knows whether the database answers, so that no request or probe has to ask. */

import { startPeriodicTask } from '@creditlane/runtime/concurrency/periodic-task';
import { loggableMessage } from '@creditlane/runtime/telemetry/error-fields';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type pg from 'pg';
import { defineStatement } from '../statement.ts';

/** A database that has answered nothing for this long is checked; one that has lost a connection, at once. */
const HEARTBEAT_MS = 5_000;
/** Between checks while the database does not answer. */
const AWAY_HEARTBEAT_MS = 1_000;

const heartbeat = defineStatement('heartbeat', 'SELECT');

export interface Heartbeat {
  /** True, or the reason why the database cannot be used at present. */
  ready(): true | string;
  close(): Promise<void>;
}

export interface HeartbeatOptions {
  /** The pool whose connections check the database. */
  pool: pg.Pool;
  /** Another pool of the same database. */
  otherPool: pg.Pool;
  log: Log;
}

/**
 * Runs an empty SELECT in `pool` when no query of either pool was answered for five seconds, every second while it fails,
 * and when one of the two pools has lost a connection.
 */
export function startHeartbeat({ pool, otherPool, log }: HeartbeatOptions): Heartbeat {
  let state: true | string = true;
  /** The reasons that were logged since the database answered last. */
  const logged = new Set<string>();
  let answeredMs = performance.now();
  let isCheckDue = true;
  const check = async () => {
    try {
      await heartbeat.run(pool);
      if (state !== true) log.info('the database answers again');
      state = true;
      logged.clear();
    } catch (err) {
      const shown = err instanceof Error ? loggableMessage(err) : undefined;
      const reason = ['the database does not answer', shown].filter(Boolean).join(': ');
      // The first reason may be a connection that was lost, and a later one why no other can be made.
      if (!logged.has(reason)) log.error({ err }, 'the database does not answer');
      logged.add(reason);
      state = reason;
    }
  };
  const task = startPeriodicTask(AWAY_HEARTBEAT_MS, async () => {
    const dueInMs = answeredMs + HEARTBEAT_MS - performance.now();
    if (state === true && !isCheckDue && dueInMs > 0) return dueInMs;
    isCheckDue = false;
    await check();
    return state === true ? 0 : AWAY_HEARTBEAT_MS;
  });
  const onConnectionLost = () => {
    isCheckDue = true;
    task.wake();
  };
  // A connection that is released to be closed was lost while a query used it.
  const onRelease = (broken: unknown) => {
    if (!broken) answeredMs = performance.now();
    else if (state === true) onConnectionLost();
  };
  for (const each of [pool, otherPool]) each.on('error', onConnectionLost).on('release', onRelease);
  return {
    ready: () => state,
    async close() {
      await task.close();
      for (const each of [pool, otherPool]) {
        each.off('error', onConnectionLost).off('release', onRelease);
      }
    },
  };
}
