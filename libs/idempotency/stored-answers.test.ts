import { randomUUID } from 'node:crypto';
import type { Queryable } from '@creditlane/postgres/statement';
import { type OpenTestDatabase, openTestDatabase } from '@creditlane/postgres/test-open-database';
import { inTransaction } from '@creditlane/postgres/transaction';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  announceRequest,
  answerOnce,
  createIdempotencySql,
  findReplay,
  type Idempotency,
  isDuplicateRequest,
  rememberAnswer,
} from './stored-answers.ts';

let db: OpenTestDatabase;
let idem: Idempotency;

beforeAll(async () => {
  db = await openTestDatabase('idempotency', createIdempotencySql);
  await db.pool.query('CREATE TABLE effects (what text)');
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.pool.query('TRUNCATE effects');
  const requestDigest = Buffer.from('digest');
  idem = { callerId: randomUUID(), operation: 'record', key: 'k', requestDigest };
});

/** A write with an effect, which stores its answer beside it. */
const write = (answer: string) => () =>
  inTransaction(db.pool, async (tx) => {
    await tx.query('INSERT INTO effects VALUES ($1)', [answer]);
    await rememberAnswer(tx, idem, Buffer.from(answer));
    return Buffer.from(answer);
  });

async function effects(): Promise<string[]> {
  const { rows } = await db.pool.query<{ what: string }>('SELECT what FROM effects');
  return rows.map(({ what }) => what);
}

test('a repeat has no effect and gets the first answer', async () => {
  const first = await answerOnce(db.pool, idem, write('first'));
  const second = await answerOnce(db.pool, idem, write('second'));
  expect(first).toMatchObject({ replayed: false });
  expect(second).toEqual({ response: Buffer.from('first'), replayed: true });
  expect(await effects()).toEqual(['first']);
});

test('twins at once have one effect and one answer', async () => {
  const twins = Array.from({ length: 8 }, (_, index) =>
    answerOnce(db.pool, idem, write(`twin ${index}`)),
  );
  const answers = await Promise.all(twins);
  const [effect, ...others] = await effects();
  expect(others).toEqual([]);
  expect(answers.map(({ response }) => String(response))).toEqual(answers.map(() => effect));
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
});

test('a twin waits for the other, and writes when that one is rolled back', async () => {
  let second: Promise<unknown> | undefined;
  const first = inTransaction(db.pool, async (tx) => {
    await rememberAnswer(tx, idem, Buffer.from('first'));
    second = answerOnce(db.pool, idem, write('second'));
    await expect.poll(waitingForALock).toBe(1);
    throw new Error('rolled back');
  });
  await expect(first).rejects.toThrow('rolled back');
  expect(await second).toEqual({ response: Buffer.from('second'), replayed: false });
});

async function waitingForALock(): Promise<number> {
  const { rows } = await db.pool.query(
    `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
       AND datname = current_database()`,
  );
  return rows[0].count;
}

test('a write is told of a twin that keeps it waiting, and not of a stranger', async () => {
  const busy = Object.assign(new Error('lock timeout'), { code: '55P03' });
  const waitInVain = () => answerOnce(db.pool, idem, () => Promise.reject(busy));
  const inProgress = { kind: 'conflict', code: 'idempotency_in_progress' };
  await expect(waitInVain()).rejects.toBe(busy);
  for (const twin of [
    (tx: Queryable) => announceRequest(tx, idem),
    (tx: Queryable) => rememberAnswer(tx, idem, Buffer.from('')),
  ]) {
    const rolledBack = inTransaction(db.pool, async (tx) => {
      await twin(tx);
      await expect(waitInVain()).rejects.toMatchObject(inProgress);
      await expect(waitInVain()).rejects.toMatchObject(inProgress);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    await expect(waitInVain()).rejects.toBe(busy);
  }
  const stranger = inTransaction(db.pool, async (tx) => {
    await announceRequest(tx, { ...idem, operation: 'submit' });
    await expect(waitInVain()).rejects.toBe(busy);
  });
  await stranger;
});

test('an answer counts for a day, purged or not, and then makes room for another', async () => {
  const age = (hours: number) =>
    db.pool.query('UPDATE idempotency SET created_at = now() - make_interval(hours => $1)', [
      hours,
    ]);
  await answerOnce(db.pool, idem, write('first'));
  await age(23);
  expect(await answerOnce(db.pool, idem, write('second'))).toMatchObject({ replayed: true });
  await age(25);
  idem.requestDigest = Buffer.from('another');
  const next = await answerOnce(db.pool, idem, write('third'));
  expect(next).toEqual({ response: Buffer.from('third'), replayed: false });
  expect((await answerOnce(db.pool, idem, write('fourth'))).response).toEqual(next.response);
  expect(await effects()).toEqual(['first', 'third']);
});

test('a key used for another request is refused', async () => {
  await answerOnce(db.pool, idem, write('first'));
  const other = { ...idem, requestDigest: Buffer.from('another') };
  const refusal = { kind: 'invalid', code: 'idempotency_key_reused' };
  await expect(findReplay(db.pool, other)).rejects.toMatchObject(refusal);
  await expect(answerOnce(db.pool, other, write('second'))).rejects.toMatchObject(refusal);
  expect(await effects()).toEqual(['first']);
});

test('the same key of another caller or for another operation is another key', async () => {
  await answerOnce(db.pool, idem, write('first'));
  expect(await findReplay(db.pool, { ...idem, callerId: randomUUID() })).toBeUndefined();
  expect(await findReplay(db.pool, { ...idem, operation: 'submit' })).toBeUndefined();
});

test('without a key every write has its effect', async () => {
  const plain = (what: string) => async () => {
    await db.pool.query('INSERT INTO effects VALUES ($1)', [what]);
    return Buffer.from(what);
  };
  await answerOnce(db.pool, undefined, plain('one'));
  await answerOnce(db.pool, undefined, plain('two'));
  expect(await effects()).toEqual(['one', 'two']);
});

test('another failure than a twin is reported as it is', async () => {
  const failing = answerOnce(db.pool, idem, () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  expect(isDuplicateRequest(new Error('broken'))).toBe(false);
});
