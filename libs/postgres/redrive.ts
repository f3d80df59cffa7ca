/**
 * Publishes a service's events once more and ends: for when Kafka has lost its data.
 *
 * `DATABASE_URL` is that of a service which publishes, `REDRIVE_SINCE` an ISO 8601 time before the
 * loss. How to go about it: deploy/kafka-lost.md.
 */
import { readEnv } from '@creditlane/runtime/env';
import { run } from '@creditlane/runtime/run';
import pg from 'pg';
import { redriveOutbox } from './outbox-redrive.ts';

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
    })),
  async ({ databaseUrl, since }, { log, closers }) => {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
    closers.add('database', () => pool.end());
    pool.on('error', (err) => log.warn({ err }, 'connection lost'));
    const count = await redriveOutbox(pool, since);
    log.info({ count, since }, 'these events are published once more');
    await pool.end();
  },
);
