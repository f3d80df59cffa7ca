/** Checks periodically whether the database answers, so that no request or probe has to. */

import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type pg from 'pg';
import { defineStatement } from '../statement.ts';

/** While the database answers. A lost connection is noticed at once, and leads to a check. */
const HEARTBEAT_MS = 5_000;
/** While it does not answer. */
const AWAY_HEARTBEAT_MS = 1_000;

const heartbeat = defineStatement('heartbeat', 'SELECT');

export interface Heartbeat {
  /** True, or the reason why the database cannot be used at present. */
  ready(): true | string;
  close(): Promise<void>;
}

/** Runs an empty SELECT every five seconds, every second while it fails, and when the pool has lost a connection. */
export function startHeartbeat(pool: pg.Pool, log: Log): Heartbeat {
  let state: true | string = true;
  const check = async () => {
    try {
      await heartbeat.run(pool);
      if (state !== true) log.info('the database answers again');
      state = true;
    } catch (err) {
      if (state === true) log.error({ err }, 'the database does not answer');
      state = 'the database does not answer';
    }
  };
  const stop = new AbortController();
  const connectionLost = new WakeSignal();
  const onConnectionLost = () => connectionLost.signal();
  pool.on('error', onConnectionLost);
  const run = async () => {
    while (!stop.signal.aborted) {
      await check();
      await connectionLost.wait(state === true ? HEARTBEAT_MS : AWAY_HEARTBEAT_MS, stop.signal);
    }
  };
  const running = run();
  return {
    ready: () => state,
    async close() {
      stop.abort();
      await running;
      pool.off('error', onConnectionLost);
    },
  };
}
