import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { silentLog } from '@creditlane/runtime/test-log';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AWAITED_LOCKS_SQL } from '../test-awaited-locks.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { inTransaction } from '../transaction.ts';
import { DatabaseNewerError, migrate } from './migrate.ts';
import type { Compatibility, Migration } from './migration.ts';
import { sqlMigration } from './sql-migration.ts';

const THINGS = sqlMigration('Things1763000000000', {
  up: ['CREATE TABLE things (id int)'],
});
const BOXES = sqlMigration('Boxes1763000000001', {
  up: ['CREATE TABLE boxes (id int)'],
  compatibility: 'only adds',
});
const [V1, V2] = [[THINGS], [THINGS, BOXES]];

const addColour = (compatibility?: Compatibility) =>
  sqlMigration('Colours1763000000002', {
    up: ['ALTER TABLE things ADD COLUMN colour text'],
    compatibility,
  });

let home: TestDatabase;
beforeAll(async () => {
  home = await createTestDatabase('migrate');
});
afterAll(() => home?.drop());
beforeEach(async () => {
  await home.sql.query('DROP SCHEMA public CASCADE');
  await home.sql.query('CREATE SCHEMA public');
});

const migrateTo = (version: Migration[], log = silentLog) => migrate(home.url, version, log);

const executed = async () => {
  const { rows } = await home.sql.query('SELECT name, floor FROM migrations ORDER BY id');
  return rows;
};

test('processes that start at once migrate once', async () => {
  const slow = sqlMigration('Slow1763000000001', {
    // Long enough for another process to run the migration at the same time.
    up: ['CREATE TABLE slow (id int)', 'SELECT pg_sleep(0.2)'],
  });
  await Promise.all([1, 2, 3].map(() => migrateTo([THINGS, slow])));
  expect((await executed()).map(({ name }) => name)).toEqual([
    'Things1763000000000',
    'Slow1763000000001',
  ]);
});

test('a migration can raise its floor in a database that one start makes, and in no other', async () => {
  const Raising = class extends addColour('only adds') {
    override readonly raisesFloorOfNewDatabase = true;
  };
  const floor = async () => (await executed()).at(-1)?.floor;
  await migrateTo([THINGS, Raising]);
  expect(await floor()).toBe('Colours1763000000002');
  await home.sql.query('DROP TABLE things, migrations');
  await migrateTo([THINGS]);
  await migrateTo([THINGS, Raising]);
  expect(await floor()).toBe('any');
});

test('a newer version adds its migrations to what is there', async () => {
  await migrateTo(V1);
  await home.sql.query('INSERT INTO things VALUES (1)');
  await migrateTo([...V2, addColour('only adds')]);
  const { rows } = await home.sql.query('SELECT * FROM things');
  expect(rows).toEqual([{ id: 1, colour: null }]);
});

test('a migration that fails leaves nothing behind and is run again by the next start', async () => {
  const wrong = sqlMigration('Boxes1763000000001', {
    up: ['CREATE TABLE boxes (id int)', 'SELEC'],
  });
  await expect(migrateTo([THINGS, wrong])).rejects.toMatchObject({ code: '42601' });
  await migrateTo(V2);
  expect(await executed()).toHaveLength(2);
});

test('an earlier version starts on a database to which newer versions have only added', async () => {
  await migrateTo([...V2, addColour('only adds')]);
  await migrateTo(V1);
  await migrateTo(V2);
  expect(await executed()).toHaveLength(3);
});

test('an earlier version starts while a newer one migrates', async () => {
  await migrateTo(V2);
  await inTransaction(home.sql, async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock(4711001)');
    await migrateTo(V1);
    await migrateTo(V2);
  });
});

test('a version that may not migrate waits until another process has', async () => {
  const lines: string[] = [];
  const log = createLog('test', { destination: { write: (line) => void lines.push(line) } });
  const waiting = migrate(home.url, V2, log, false);
  await expect.poll(() => lines.join()).toContain('waits for its migrations');
  await migrateTo(V1);
  const { rows } = await home.sql.query("SELECT to_regclass('boxes') AS boxes");
  expect(rows).toEqual([{ boxes: null }]);
  await migrateTo(V2);
  await waiting;
});

test.each([
  ['says that it breaks', 'breaks'],
  ['says nothing', undefined],
] as const)(
  'an earlier version refuses a database whose newer migration %s, by name, and leaves it as it is',
  async (_, compatibility) => {
    await migrateTo([...V2, addColour(compatibility)]);
    const before = await executed();
    const refused = migrateTo(V1);
    await expect(refused).rejects.toBeInstanceOf(DatabaseNewerError);
    await expect(refused).rejects.toThrow('more than add (Colours1763000000002)');
    expect(await executed()).toEqual(before);
  },
);

test('a migration that removes what an earlier migration has replaced is refused by the versions before that one', async () => {
  await migrateTo([...V2, addColour({ since: BOXES })]);
  await migrateTo(V2);
  await expect(migrateTo(V1)).rejects.toThrow('(Colours1763000000002)');
});

test('migrations without a record of their compatibility, as earlier versions ran them, are refused when unknown and go on when known', async () => {
  // As TypeORM makes the table.
  await home.sql.query(
    `CREATE TABLE migrations (id serial PRIMARY KEY, "timestamp" bigint NOT NULL, name varchar NOT NULL)`,
  );
  await home.sql.query('CREATE TABLE things (id int)');
  await home.sql.query(`INSERT INTO migrations ("timestamp", name)
    VALUES (1763000000000, 'Things1763000000000')`);
  await expect(migrateTo([BOXES])).rejects.toThrow('(Things1763000000000)');
  await migrateTo(V1);
  await migrateTo(V2);
  expect(await executed()).toEqual([
    { name: 'Things1763000000000', floor: null },
    { name: 'Boxes1763000000001', floor: 'any' },
  ]);
  await migrateTo(V1);
});

describe('the query of the page on upgrades', () => {
  const page = join(import.meta.dirname, '../../../docs/operations/upgrade.md');
  const [sql = ''] = /^SELECT coalesce\(floor.*?;$/ms.exec(readFileSync(page, 'utf8')) ?? [];

  test.each<{ boxes: Compatibility; floorOfBoxes?: null; needed: Migration[] }>([
    { boxes: 'only adds', needed: V1 },
    { boxes: 'breaks', needed: V2 },
    { boxes: 'only adds', floorOfBoxes: null, needed: V2 },
  ])(
    'names the migration without which a version does not start: $boxes, $floorOfBoxes',
    async ({ boxes, floorOfBoxes, needed }) => {
      const breaking = sqlMigration('Boxes1763000000001', {
        up: ['CREATE TABLE boxes (id int)'],
        compatibility: boxes,
      });
      // The last row permits versions from before the boxes.
      await migrateTo([THINGS, breaking, addColour({ since: THINGS })]);
      if (floorOfBoxes === null)
        await home.sql.query(`UPDATE migrations SET floor = NULL WHERE name LIKE 'Boxes%'`);
      const { rows } = await home.sql.query(sql);
      expect(rows).toEqual([{ needed: needed.map((it) => new it().name).at(-1) }]);
      await migrateTo(needed);
      await expect(migrateTo(needed.slice(0, -1))).rejects.toBeInstanceOf(DatabaseNewerError);
    },
  );
});

test('a migration waits for each lock for 100 ms at most, so that statements behind it go on', async () => {
  const settings = `SELECT current_setting('lock_timeout') AS wait`;
  await migrateTo([
    THINGS,
    sqlMigration('Seen1763000000001', { up: [`CREATE TABLE seen AS ${settings}`] }),
    sqlMigration('SeenAgain1763000000002', {
      up: ['ALTER TABLE things ADD COLUMN colour text', `INSERT INTO seen ${settings}`],
    }),
  ]);
  const { rows } = await home.sql.query('SELECT wait FROM seen');
  expect(rows).toEqual([{ wait: '100ms' }, { wait: '100ms' }]);
});

test('a migration of a table with a long reader lets later reads go on, warns, and ends after the reader', async () => {
  await migrateTo(V1);
  const lines: string[] = [];
  const log = createLog('test', { destination: { write: (line) => void lines.push(line) } });
  const { migrated } = await inTransaction(home.sql, async (tx) => {
    await tx.query('SELECT FROM things');
    const later = migrateTo([...V1, addColour()], log);
    await expect.poll(() => lines.join()).toContain('waits for a table');
    await home.sql.query('SELECT FROM things');
    return { migrated: later };
  });
  await migrated;
  await home.sql.query('SELECT colour FROM things');
});

test('no read waits for a migration that waits for VACUUM', async () => {
  await migrateTo(V1);
  const reader = new pg.Client({ connectionString: home.url, lock_timeout: 50 });
  await reader.connect();
  const { migrated } = await inTransaction(home.sql, async (tx) => {
    // The lock of VACUUM.
    await tx.query('LOCK TABLE things IN SHARE UPDATE EXCLUSIVE MODE');
    const later = migrateTo([...V1, addColour()]);
    const waiting = async () => (await reader.query(AWAITED_LOCKS_SQL, ['things'])).rows;
    await expect.poll(waiting).toEqual([{ mode: 'ShareUpdateExclusiveLock' }]);
    await reader.query('SELECT FROM things');
    return { migrated: later };
  });
  await migrated;
  await reader.end();
});
