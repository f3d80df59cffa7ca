import { setImmediate } from 'node:timers/promises';
import { silentLog } from '@creditlane/runtime/test-log';
import pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../test-database.ts';
import { startHeartbeat } from './heartbeat.ts';

afterEach(() => vi.useRealTimers());

test('when an idle connection is lost, the database is checked without waiting for the next heartbeat', async () => {
  const database = await createTestDatabase('heartbeat');
  // No heartbeat comes by time: the fake timers are never advanced, as `vi.waitUntil` would.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  let checks = 0;
  pool.on('release', () => {
    checks += 1;
  });
  const heartbeat = startHeartbeat(pool, silentLog);
  const checked = async (times: number) => {
    while (checks < times) await setImmediate();
  };
  await checked(1);
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await checked(2);
  expect(heartbeat.ready()).toBe(true);
  await admin.end();
  await heartbeat.close();
  await pool.end();
  await database.drop();
});
