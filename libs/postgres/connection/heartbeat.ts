/** Checks periodically whether the database answers, so that no request or probe has to. */

import { startPeriodicTask } from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type pg from 'pg';
import { defineStatement } from '../statement.ts';

const HEARTBEAT_MS = 2_000;

const heartbeat = defineStatement('heartbeat', 'SELECT');

export interface Heartbeat {
  /** True, or the reason why the database cannot be used at present. */
  ready(): true | string;
  close(): Promise<void>;
}

/** Runs an empty SELECT every two seconds. */
export function startHeartbeat(pool: pg.Pool, log: Log): Heartbeat {
  let state: true | string = true;
  const { close } = startPeriodicTask(HEARTBEAT_MS, async () => {
    try {
      await heartbeat.run(pool);
      if (state !== true) log.info('the database answers again');
      state = true;
    } catch (err) {
      if (state === true) log.error({ err }, 'the database does not answer');
      state = 'the database does not answer';
    }
  });
  return { ready: () => state, close };
}
