import { randomUUID } from 'node:crypto';
import type { Queryable } from '@creditlane/postgres/statement';
import { type OpenTestDatabase, openTestDatabase } from '@creditlane/postgres/test-open-database';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { CallIdempotency } from '@creditlane/rpc/call';
import { conflict, unavailable } from '@creditlane/rpc/fault';
import type { Keys } from '@creditlane/runtime/setting';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { markInProgress, refuseDuplicateInProgress } from './duplicate-requests.ts';
import { withKeyedDigest } from './keyed-digest.ts';
import {
  answerOnce,
  createIdempotencySql,
  findStoredAnswer,
  hasNoStoredAnswerSql,
  insertStoredAnswerSql,
  isDuplicateRequest,
  storeAnswer,
  writeFirst,
} from './stored-answers.ts';
import { ageStoredAnswers } from './test-stored-answers.ts';

let database: OpenTestDatabase;
let pool: OpenTestDatabase['pool'];
let idempotency: CallIdempotency;

beforeAll(async () => {
  database = await openTestDatabase('idempotency', createIdempotencySql);
  pool = database.pool;
  await pool.query('CREATE TABLE effects (effect text)');
});
afterAll(() => database.close());
beforeEach(async () => {
  await pool.query('TRUNCATE effects');
  const requestDigest = Buffer.from('digest');
  idempotency = { callerId: randomUUID(), operation: 'record', key: 'k', requestDigest };
});

/** A write with an effect, which stores its answer in the same transaction. */
const write = (answer: string) => () =>
  inTransaction(pool, async (tx) => {
    await tx.query('INSERT INTO effects VALUES ($1)', [answer]);
    await storeAnswer(tx, idempotency, Buffer.from(answer));
    return answer;
  });

/** The same in one statement, as a service writes it that embeds the library's SQL. */
const writeInOneStatement = (answer: string) => async () => {
  const { callerId, operation, key, requestDigest } = idempotency;
  const { rows } = await pool.query(
    `WITH effect AS (
       INSERT INTO effects SELECT $1 WHERE ${hasNoStoredAnswerSql('$2::text', '$3::text', '$4::text')}
       RETURNING effect
     ), stored AS (
       ${insertStoredAnswerSql} SELECT $2::text, $3::text, $4::text, $5::bytea, $6::bytea FROM effect
     )
     SELECT effect FROM effect`,
    [answer, callerId, operation, key, requestDigest, Buffer.from(answer)],
  );
  return rows[0]?.effect as string | undefined;
};

async function effects(): Promise<string[]> {
  const { rows } = await pool.query<{ effect: string }>('SELECT effect FROM effects');
  return rows.map(({ effect }) => effect);
}

const keyed = (given: CallIdempotency, keys: Keys) =>
  withKeyedDigest({ idempotency: given }, () => keys).idempotency;

const firstAnswer = { replayed: true, answer: Buffer.from('first') };

describe('a request with an idempotency key', () => {
  test('repeated has no second effect and gets the first answer', async () => {
    const outcome = await answerOnce(pool, idempotency, write('first'));
    const repeated = await answerOnce(pool, idempotency, write('second'));
    expect(outcome).toMatchObject({ replayed: false });
    expect(repeated).toEqual(firstAnswer);
    expect(await effects()).toEqual(['first']);
  });

  test('repeated in one statement that checks the key gets the first answer', async () => {
    const outcome = await writeFirst(pool, idempotency, writeInOneStatement('first'));
    expect(outcome).toEqual({ replayed: false, answer: 'first' });
    expect(await writeFirst(pool, idempotency, writeInOneStatement('second'))).toEqual(firstAnswer);
    expect(await effects()).toEqual(['first']);
  });

  test('with an expired answer has a second effect in one statement that checks the key', async () => {
    await writeFirst(pool, idempotency, writeInOneStatement('first'));
    await ageStoredAnswers(pool, 25);
    const outcome = await writeFirst(pool, idempotency, writeInOneStatement('second'));
    expect(outcome).toEqual({ replayed: false, answer: 'second' });
  });

  test('that wrote nothing and has no stored answer gets undefined', async () => {
    expect(await writeFirst(pool, idempotency, async () => undefined)).toBeUndefined();
  });

  test('sent eight times at once has one effect and one answer', async () => {
    const duplicates = Array.from({ length: 8 }, (_, index) =>
      answerOnce(pool, idempotency, write(`duplicate ${index}`)),
    );
    const outcomes = await Promise.all(duplicates);
    const [effect, ...others] = await effects();
    expect(others).toEqual([]);
    const answers = outcomes.map((it) => String(it.answer));
    expect(answers).toEqual(answers.map(() => effect));
    expect(outcomes.filter(({ replayed }) => !replayed)).toHaveLength(1);
  });

  test('sent eight times at once after its answer has expired has one more effect and one answer', async () => {
    await answerOnce(pool, idempotency, write('first'));
    await ageStoredAnswers(pool, 25);
    // A write whose statement does not see the answer that a duplicate stores meanwhile.
    const attempts = Array.from({ length: 8 }, (_, index) =>
      writeFirst(pool, idempotency, write(`duplicate ${index}`)),
    );
    const outcomes = await Promise.all(attempts);
    const [, effect, ...others] = await effects();
    expect(others).toEqual([]);
    expect(outcomes.map((it) => String(it?.answer))).toEqual(outcomes.map(() => effect));
  });

  test('whose duplicate is rolled back has its own effect and answer', async () => {
    let second: Promise<unknown> | undefined;
    const rolledBack = inTransaction(pool, async (tx) => {
      await storeAnswer(tx, idempotency, Buffer.from('first'));
      second = answerOnce(pool, idempotency, write('second'));
      await expect.poll(countLockWaiters).toBe(1);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(await second).toEqual({ replayed: false, answer: 'second' });
  });

  test('gets an answer of 23 hours ago; an answer of 25 hours ago is replaced, purged or not', async () => {
    await answerOnce(pool, idempotency, write('first'));
    await ageStoredAnswers(pool, 23);
    expect(await answerOnce(pool, idempotency, write('second'))).toMatchObject({ replayed: true });
    await ageStoredAnswers(pool, 25);
    idempotency = { ...idempotency, requestDigest: Buffer.from('another') };
    const next = await answerOnce(pool, idempotency, write('third'));
    expect(next).toEqual({ replayed: false, answer: 'third' });
    expect(await answerOnce(pool, idempotency, write('fourth'))).toEqual({
      replayed: true,
      answer: Buffer.from('third'),
    });
    expect(await effects()).toEqual(['first', 'third']);
  });

  test('with the key of a different request is refused with idempotency_key_reused', async () => {
    await answerOnce(pool, idempotency, write('first'));
    const other = { ...idempotency, requestDigest: Buffer.from('another') };
    const refusal = { kind: 'invalid', code: 'idempotency_key_reused' };
    await expect(findStoredAnswer(pool, other)).rejects.toMatchObject(refusal);
    await expect(answerOnce(pool, other, write('second'))).rejects.toMatchObject(refusal);
    expect(await effects()).toEqual(['first']);
  });

  test('whose digest has a key that is replaced in two steps gets its answer in each of them', async () => {
    const [old, next] = [Buffer.from('old'), Buffer.from('next')];
    // Two replicas get the file at different times.
    const rings: [Keys, Keys][] = [
      [[old], [old]],
      [[old, next], [old]],
      [
        [old, next],
        [old, next],
      ],
      [
        [next, old],
        [old, next],
      ],
      [
        [next, old],
        [next, old],
      ],
    ];
    const given = idempotency;
    for (const [index, keys] of rings.entries()) {
      const [stores, reads] = keys.map((it) => {
        return keyed({ ...given, key: `k${index}` }, it);
      }) as [CallIdempotency, CallIdempotency];
      idempotency = stores;
      await answerOnce(pool, stores, write(`answer ${index}`));
      const repeated = await answerOnce(pool, reads, write('repeated'));
      expect(repeated).toEqual({ replayed: true, answer: Buffer.from(`answer ${index}`) });
    }
    const other = { ...given, key: 'k0', requestDigest: Buffer.from('another') };
    const refused = keyed(other, [next, old]);
    await expect(findStoredAnswer(pool, refused)).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('with the key of another caller or operation has no stored answer', async () => {
    await answerOnce(pool, idempotency, write('first'));
    const others = [{ callerId: randomUUID() }, { operation: 'submit' }];
    for (const other of others) {
      expect(await findStoredAnswer(pool, { ...idempotency, ...other })).toBeUndefined();
    }
  });

  test('whose write fails for another reason than a duplicate gets that error', async () => {
    const failing = answerOnce(pool, idempotency, () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    expect(isDuplicateRequest(new Error('broken'))).toBe(false);
  });
});

async function countLockWaiters(): Promise<number> {
  const { rows } = await pool.query(
    `SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock'
       AND datname = current_database()`,
  );
  return rows[0].count;
}

test('a lock timeout beside a duplicate request is idempotency_in_progress, and otherwise the timeout', async () => {
  const lockTimeout = Object.assign(new Error('lock timeout'), { code: '55P03' });
  const timeOut = () => answerOnce(pool, idempotency, () => Promise.reject(lockTimeout));
  const inProgress = { kind: 'conflict', code: 'idempotency_in_progress' };
  await expect(timeOut()).rejects.toBe(lockTimeout);
  for (const duplicate of [
    (tx: Queryable) => markInProgress(tx, idempotency),
    (tx: Queryable) => storeAnswer(tx, idempotency, Buffer.from('')),
  ]) {
    const rolledBack = inTransaction(pool, async (tx) => {
      await duplicate(tx);
      await expect(timeOut()).rejects.toMatchObject(inProgress);
      await expect(timeOut()).rejects.toMatchObject(inProgress);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    await expect(timeOut()).rejects.toBe(lockTimeout);
  }
  await inTransaction(pool, async (tx) => {
    await markInProgress(tx, { ...idempotency, operation: 'submit' });
    await expect(timeOut()).rejects.toBe(lockTimeout);
  });
});

test('a refusal after a duplicate was accepted is its answer, and beside one in progress idempotency_in_progress', async () => {
  const refusal = conflict('archived', 'The application is archived.');
  const refuse = () => Promise.reject(refusal);
  await expect(answerOnce(pool, idempotency, refuse)).rejects.toBe(refusal);
  await inTransaction(pool, async (tx) => {
    await markInProgress(tx, idempotency);
    const inProgress = { kind: 'conflict', code: 'idempotency_in_progress' };
    await expect(answerOnce(pool, idempotency, refuse)).rejects.toMatchObject(inProgress);
  });
  const overtaken = answerOnce(pool, idempotency, async () => {
    await answerOnce(pool, idempotency, write('first'));
    throw refusal;
  });
  expect(await overtaken).toEqual(firstAnswer);
  const other = { ...idempotency, key: 'other' };
  const unavailableNow = unavailable('out of reach');
  const failed = answerOnce(pool, other, () => Promise.reject(unavailableNow));
  await expect(failed).rejects.toBe(unavailableNow);
});

test('of refused duplicates at the same time, none counts as in progress for another', async () => {
  const refusal = conflict('archived', 'The application is archived.');
  let other: Promise<unknown> | undefined;
  await inTransaction(pool, async (tx) => {
    await refuseDuplicateInProgress(tx, idempotency, refusal);
    other = answerOnce(pool, idempotency, () => Promise.reject(refusal)).catch((error) => error);
    await expect.poll(countLockWaiters).toBe(1);
    // The lock for which the other one waits. Both would end with the transaction in any order.
    expect(await countAdvisoryLocks()).toBe(1);
  });
  expect(await other).toBe(refusal);
});

async function countAdvisoryLocks(): Promise<number> {
  const { rows } = await pool.query(
    `SELECT count(*)::int FROM pg_locks JOIN pg_database d ON d.oid = database
     WHERE locktype = 'advisory' AND granted AND datname = current_database()`,
  );
  return rows[0].count;
}

test('two requests without a key have an effect each', async () => {
  const insert = (effect: string) => async () => {
    await pool.query('INSERT INTO effects VALUES ($1)', [effect]);
    return effect;
  };
  await answerOnce(pool, undefined, insert('one'));
  await answerOnce(pool, undefined, insert('two'));
  expect(await effects()).toEqual(['one', 'two']);
});
