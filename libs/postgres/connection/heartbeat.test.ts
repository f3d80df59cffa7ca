import { setImmediate } from 'node:timers/promises';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { silentLog } from '@creditlane/runtime/test-log';
import pg from 'pg';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../test-database.ts';
import { startHeartbeat } from './heartbeat.ts';

/** A heartbeat whose time passes only by fake timers, its pools, and how often it has checked the database. */
async function startTestHeartbeat() {
  const database = await createTestDatabase('heartbeat');
  // Not `vi.waitUntil` in these tests, which advances the timers.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const [pool, other] = [database.connect({ max: 1 }), database.connect({ max: 1 })];
  let checks = 0;
  pool.on('release', () => {
    checks += 1;
  });
  const heartbeat = startHeartbeat({ pool, otherPool: other, log: silentLog });
  onTestFinished(async () => {
    vi.useRealTimers();
    await heartbeat.close();
    await database.drop();
  });
  const checked = async (times: number) => {
    while (checks < times) await setImmediate();
  };
  return { heartbeat, other, checked, checks: () => checks, databaseUrl: database.url };
}

test('when an idle connection is lost, the database is checked without waiting for the next heartbeat', async () => {
  const { heartbeat, checked, databaseUrl } = await startTestHeartbeat();
  await checked(1);
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await checked(2);
  expect(heartbeat.ready()).toBe(true);
  await admin.end();
});

test('when a connection of the other pool is lost during a query, the database is checked at once', async () => {
  const { other, checked } = await startTestHeartbeat();
  await checked(1);
  await other.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
  await checked(2);
});

test('the database is checked five seconds after the last answer to any query', async () => {
  const { other, checked, checks } = await startTestHeartbeat();
  await checked(1);
  await vi.advanceTimersByTimeAsync(4_000);
  await other.query('SELECT');
  await vi.advanceTimersByTimeAsync(4_000);
  await other.query('SELECT');
  expect(checks()).toBe(1);
  await vi.advanceTimersByTimeAsync(5_000);
  await checked(2);
});

test('while the database cannot be used the heartbeat says why, and logs each reason once', async () => {
  const database = await createTestDatabase('heartbeat');
  const pool = database.connect({ max: 1 });
  const lines: string[] = [];
  const log = createLog('test', { destination: { write: (line) => void lines.push(line) } });
  const heartbeat = startHeartbeat({ pool, otherPool: database.connect({ max: 1 }), log });
  onTestFinished(async () => {
    await heartbeat.close();
    await database.drop();
  });
  await expect.poll(() => pool.idleCount).toBe(1);
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  onTestFinished(() => admin.end());
  const role = new URL(database.url).username;
  await admin.query(`ALTER ROLE ${role} NOLOGIN`);
  await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [
    role,
  ]);
  const reason = expect.stringMatching(/^the database does not answer: .*not permitted to log in/);
  await expect.poll(() => heartbeat.ready()).toEqual(reason);
  await expect.poll(() => pool.totalCount).toBe(0);
  const logged = () =>
    lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
  expect(logged().at(-1)?.err.message).toMatch(/not permitted to log in/);
  await admin.query(`ALTER ROLE ${role} LOGIN`);
  await expect.poll(() => heartbeat.ready()).toBe(true);
  expect(logged().length).toBeLessThanOrEqual(2);
});
