import { createRequire } from 'node:module';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { isDatabaseUnavailable } from '../error-classes.ts';
import { defineStatement, mapQueryResult, runQuery } from '../statement.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { inTransaction, runReadWriteTransaction } from '../transaction.ts';
import { NotCommittedError, runPipeline } from './pipeline.ts';

let db: TestDatabase;
/** A pool of one connection, so that each test meets the statements that earlier tests prepared. */
let pool: pg.Pool;

beforeAll(async () => {
  db = await createTestDatabase('round_trip');
  pool = db.connect({ max: 1 });
  await db.sql.query('CREATE TABLE notes (id int PRIMARY KEY, text text)');
});
afterAll(() => db.drop());
beforeEach(() => db.sql.query('TRUNCATE notes'));

const write = defineStatement('note_write', 'INSERT INTO notes (id, text) VALUES ($1, $2)');
const read = defineStatement<{ id: number; text: string }>(
  'note_read',
  'SELECT id, text FROM notes ORDER BY id',
);
const divide = defineStatement<{ quotient: number }>('divide', 'SELECT 1 / $1::int AS quotient');

const notes = async () => (await db.sql.query('SELECT id FROM notes ORDER BY id')).rows;

test('each query sees the effects of those before it and has its own result', async () => {
  const ids = mapQueryResult(read.query(), (rows) => rows.map(({ id }) => id));
  const answers = await runPipeline(pool, [
    read.query(),
    write.query([1, 'one']),
    ids,
    undefined,
    write.query([2, null]),
    read.query(),
  ]);
  const one = { id: 1, text: 'one' };
  expect(answers).toEqual([[], [], [1], undefined, [], [one, { id: 2, text: null }]]);
});

test('when one query is refused, no query takes effect and later queries do not run', async () => {
  const refused = runPipeline(pool, [
    write.query([1, 'one']),
    divide.query([0]),
    defineStatement('never_prepared', 'SELECT 1 AS one').query(),
  ]);
  await expect(refused).rejects.toMatchObject({ code: '22012' });
  expect(await notes()).toEqual([]);
});

test('the error of a refused query has the stack of the caller', async () => {
  const error = await runPipeline(pool, [divide.query([0])]).catch((thrown: Error) => thrown);
  expect(error).toHaveProperty('stack', expect.stringContaining('pipeline.test.ts'));
});

test('after a refused query the connection runs prepared and new statements', async () => {
  const { rows: before } = await pool.query('SELECT pg_backend_pid() AS pid');
  const late = defineStatement<{ two: number }>('prepared_late', 'SELECT 2 AS two');
  await expect(runPipeline(pool, [divide.query([0]), late.query()])).rejects.toThrow();
  expect(await runPipeline(pool, [late.query(), divide.query([1])])).toEqual([
    [{ two: 2 }],
    [{ quotient: 1 }],
  ]);
  expect(await runQuery(pool, late.query())).toEqual([{ two: 2 }]);
  expect((await pool.query('SELECT pg_backend_pid() AS pid')).rows).toEqual(before);
});

test('after a query that cannot be parsed the connection runs further queries', async () => {
  const nonsense = defineStatement('nonsense', 'SELECT FROM WHERE');
  for (const _ of [1, 2]) {
    await expect(runPipeline(pool, [read.query(), nonsense.query()])).rejects.toMatchObject({
      code: '42601',
    });
  }
  expect(await runQuery(pool, read.query())).toEqual([]);
});

test('when a value cannot be sent, no earlier query takes effect', async () => {
  const unfit = {
    toPostgres() {
      throw new Error('no way to write this');
    },
  };
  const refused = runPipeline(pool, [write.query([1, 'one']), write.query([2, unfit])]);
  await expect(refused).rejects.toThrow('no way to write this');
  expect(await notes()).toEqual([]);
  expect(await runQuery(pool, read.query())).toEqual([]);
});

test('a connection lost before the answer rejects as an unavailable database', async () => {
  const end = defineStatement('end_me', 'SELECT pg_terminate_backend(pg_backend_pid())');
  const lost = runPipeline(pool, [write.query([1, 'one']), end.query(), read.query()]);
  await expect(lost).rejects.toSatisfy(isDatabaseUnavailable);
  expect(await notes()).toEqual([]);
  expect(await runQuery(pool, read.query())).toEqual([]);
});

test('a late answer rejects as an unavailable database and reaches no later query', async () => {
  const impatient = db.connect({ max: 1, query_timeout: 2_000 });
  const holder = await db.sql.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE notes');
  await expect(runPipeline(impatient, [divide.query([1]), read.query()])).rejects.toSatisfy(
    isDatabaseUnavailable,
  );
  await holder.query('ROLLBACK');
  holder.release();
  expect(await runPipeline(impatient, [divide.query([1]), read.query()])).toEqual([
    [{ quotient: 1 }],
    [],
  ]);
});

test('each query has the statement timeout of its own', async () => {
  const pressed = db.connect({ max: 1, statement_timeout: 2_000, query_timeout: 2_000 });
  const nap = defineStatement('nap', 'SELECT pg_sleep(0.2)');
  const naps = Array.from({ length: 11 }, () => nap.query());
  expect(await runPipeline(pressed, naps)).toHaveLength(11);
});

test('an empty statement has no rows', async () => {
  const empty = defineStatement('empty', '-- nothing');
  expect(await runPipeline(pool, [empty.query(), divide.query([1])])).toEqual([
    [],
    [{ quotient: 1 }],
  ]);
});

test('queries in a transaction are rolled back with it', async () => {
  const undone = inTransaction(pool, async (tx) => {
    await runPipeline(tx, [write.query([1, 'one']), write.query([2, 'two'])]);
    throw new Error('changed my mind');
  });
  await expect(undone).rejects.toThrow('changed my mind');
  expect(await notes()).toEqual([]);
});

test('a transaction that was not committed, because its work ignored a refused statement, is an error', async () => {
  const ignoring = inTransaction(pool, async (tx) => {
    await write.run(tx, [1, 'one']);
    await divide.run(tx, [0]).catch(() => undefined);
  });
  await expect(ignoring).rejects.toThrow(NotCommittedError);
  expect(await notes()).toEqual([]);
  await write.run(pool, [2, 'two']);
  expect(await notes()).toEqual([{ id: 2 }]);
});

test('without a query the result needs no connection', async () => {
  const onlyClient = await pool.connect();
  expect(await runPipeline(pool, [undefined])).toEqual([undefined]);
  onlyClient.release();
});

test('writes that depend on an answer happen in the transaction of the read', async () => {
  const decided = await runReadWriteTransaction(
    pool,
    [write.query([1, 'one']), read.query()],
    ([, rows]) => ({ writes: [write.query([rows.length + 1, 'two'])], result: rows.length }),
  );
  expect(decided).toBe(1);
  expect(await notes()).toEqual([{ id: 1 }, { id: 2 }]);
});

test.each([
  [
    'what is decided throws',
    () => {
      throw new Error('no decision');
    },
  ],
  ['what is written is refused', () => ({ writes: [write.query([1, 'twice'])], result: 0 })],
])('nothing is left of the transaction when %s', async (_, decide) => {
  await expect(runReadWriteTransaction(pool, [write.query([1, 'one'])], decide)).rejects.toThrow();
  expect(await notes()).toEqual([]);
  expect(await runQuery(pool, read.query())).toEqual([]);
});

test.each([
  ['rows', 'SELECT 1 AS one, NULL AS none', [{ one: 1, none: null }]],
  ['rows without columns', 'SELECT', [{}]],
  ['no rows', "UPDATE notes SET text = '' WHERE false", []],
])(
  'the columns of a statement with %s are asked for once on each connection',
  async (kind, text, rows) => {
    const asked = vi.spyOn(pg.Connection.prototype, 'describe' as never);
    const statement = defineStatement(`with ${kind}`, text);
    for (const _ of [1, 2, 3]) expect(await runQuery(pool, statement.query())).toEqual(rows);
    expect(asked).toHaveBeenCalledTimes(1);
    expect(await runQuery(db.connect({ max: 1 }), statement.query())).toEqual(rows);
    expect(asked).toHaveBeenCalledTimes(2);
  },
);

test('a prepared statement whose columns have changed is refused', async () => {
  await db.sql.query('CREATE TABLE growing (id int); INSERT INTO growing VALUES (1)');
  const all = defineStatement('growing_all', 'SELECT * FROM growing');
  expect(await runQuery(pool, all.query())).toEqual([{ id: 1 }]);
  await db.sql.query('ALTER TABLE growing ADD text text');
  await expect(runQuery(pool, all.query())).rejects.toMatchObject({ code: '0A000' });
});

test('a value that would be rounded rejects, and the connection runs further queries', async () => {
  const large = defineStatement('large', 'SELECT 9007199254740993 AS large');
  await expect(runPipeline(pool, [write.query([1, 'one']), large.query()])).rejects.toThrow(
    RangeError,
  );
  expect(await notes()).toEqual([{ id: 1 }]);
  expect(await runQuery(pool, divide.query([1]))).toEqual([{ quotient: 1 }]);
});

test('a second statement of the same name is refused, and no query beside it takes effect', async () => {
  const other = defineStatement('divide', 'SELECT 2 / $1::int AS quotient');
  await runQuery(pool, divide.query([1]));
  await expect(runPipeline(pool, [write.query([1, 'one']), other.query([1])])).rejects.toThrow(
    "the name 'divide' is that of another statement",
  );
  const twice = [1, 2].map((n) => defineStatement('twice', `SELECT ${n} AS n`).query());
  await expect(runPipeline(pool, [write.query([1, 'one']), ...twice])).rejects.toThrow(
    "the name 'twice' is that of another statement",
  );
  expect(await notes()).toEqual([]);
});

test('pg has the version whose private parts the pipeline was checked against', () => {
  const { version } = createRequire(import.meta.url)('pg/package.json');
  expect(version).toBe('8.23.1');
});
