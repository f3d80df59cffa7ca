/** Knows whether the database answers, without a question on the path of a request or a probe. */

import { startPeriodicTask } from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type pg from 'pg';
import { defineStatement } from './statement.ts';

const BEAT_MS = 2_000;

const beat = defineStatement('heartbeat', 'SELECT');

export interface Heartbeat {
  /** True, or why the database cannot be used just now. */
  ready(): true | string;
  close(): Promise<void>;
}

/** Asks the database for a sign of life every two seconds. */
export function startHeartbeat(pool: pg.Pool, log: Log): Heartbeat {
  let state: true | string = true;
  const { close } = startPeriodicTask(BEAT_MS, async () => {
    try {
      await beat.run(pool);
      if (state !== true) log.info('the database answers again');
      state = true;
    } catch (err) {
      if (state === true) log.error({ err }, 'the database does not answer');
      state = 'the database does not answer';
    }
  });
  return { ready: () => state, close };
}
