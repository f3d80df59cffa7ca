/**
 * Publishes a service's events once more and ends: for when Kafka has lost its data.
 *
 * `DATABASE_URL` is that of a service which publishes, `REDRIVE_SINCE` an ISO 8601 time before the
 * loss. It ends after `REDRIVE_WAIT`, when what was read before is published or given up for good. How
 * to go about it: deploy/kafka-lost.md.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PUBLISH_TIMEOUT_MS } from '@creditlane/events/bus';
import { readEnv } from '@creditlane/runtime/env';
import { run } from '@creditlane/runtime/run';
import pg from 'pg';
import { redriveOutbox } from './outbox-redrive.ts';

/**
 * A relay may be as far as to begin reading its batch, which it publishes then. The database is given
 * up after 10 s (see database.ts).
 */
const WAIT_MS = 10_000 + PUBLISH_TIMEOUT_MS;

class RedriveSinceError extends Error {
  override readonly name = 'RedriveSinceError';
  readonly loggable = true;
}

/** With its time zone: an hour too late would leave lost what was lost in it. */
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
      'these events are published once more; wait with the topics',
    );
    // A relay that had read its batch before may still try to publish it, ahead of what comes first.
    await sleep(waitMs);
    log.info('now the topics may be made');
  },
);
