/** Knows whether the database answers, so that no request or probe has to ask. */

import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
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
  const stop = new AbortController();
  const connectionLost = new WakeSignal();
  const onConnectionLost = () => {
    isCheckDue = true;
    connectionLost.signal();
  };
  // A connection that is released to be closed was lost while a query used it.
  const onRelease = (broken: unknown) => {
    if (!broken) answeredMs = performance.now();
    else if (state === true) onConnectionLost();
  };
  for (const each of [pool, otherPool]) each.on('error', onConnectionLost).on('release', onRelease);
  const run = async () => {
    while (!stop.signal.aborted) {
      const dueInMs = answeredMs + HEARTBEAT_MS - performance.now();
      if (state === true && !isCheckDue && dueInMs > 0) {
        await connectionLost.wait(dueInMs, stop.signal);
      } else {
        isCheckDue = false;
        await check();
        if (state !== true) await connectionLost.wait(AWAY_HEARTBEAT_MS, stop.signal);
      }
    }
  };
  const running = run();
  return {
    ready: () => state,
    async close() {
      stop.abort();
      await running;
      for (const each of [pool, otherPool]) {
        each.off('error', onConnectionLost).off('release', onRelease);
      }
    },
  };
}
