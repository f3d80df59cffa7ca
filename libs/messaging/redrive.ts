/**
 * A command that publishes a service's events again, for a Kafka that has lost its data.
 *
 * `DATABASE_URL` is the database of a service that publishes, `REDRIVE_SINCE` an ISO 8601 time before
 * the loss. The command ends after `REDRIVE_WAIT`: by then every batch that a relay had read before is
 * published or given up. The procedure is described in deploy/kafka-lost.md.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PUBLISH_TIMEOUT_MS } from '@creditlane/events/bus';
import { readEnv } from '@creditlane/runtime/env';
import { run } from '@creditlane/runtime/run';
import pg from 'pg';
import { redriveOutbox } from './outbox-redrive.ts';

/**
 * A relay may be about to read a batch that it publishes afterwards. It waits for the database for at
 * most 10 s (see database.ts), and for the bus for at most PUBLISH_TIMEOUT_MS.
 */
const WAIT_MS = 10_000 + PUBLISH_TIMEOUT_MS;

class RedriveSinceError extends Error {
  override readonly name = 'RedriveSinceError';
  readonly loggable = true;
}

/** The time zone is required: a time that is an hour too late would leave an hour of events lost. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

function parseTime(text: string): Date {
  const time = new Date(text);
  if (!ISO_TIME.test(text) || Number.isNaN(time.getTime())) {
    throw new RedriveSinceError('must be a time with its zone, as in 2026-03-01T09:30:00Z');
  }
  return time;
}

await run(
  'redrive',
  (env) =>
    readEnv(env, (read) => ({
      databaseUrl: read.url('DATABASE_URL'),
      since: read.parsed('REDRIVE_SINCE', parseTime),
      waitMs: read.durationMs('REDRIVE_WAIT', { default: WAIT_MS, min: 0, max: 600_000 }),
    })),
  async ({ databaseUrl, since, waitMs }, { log }) => {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
    pool.on('error', (err) => log.warn({ err }, 'connection lost'));
    const count = await redriveOutbox(pool, since);
    await pool.end();
    log.info(
      { count, since, waitMs },
      'the relay publishes these events again; do not create the topics yet',
    );
    // A relay that has read its batch before may still publish it, before the events above.
    await sleep(waitMs);
    log.info('the topics can be created now');
  },
);
