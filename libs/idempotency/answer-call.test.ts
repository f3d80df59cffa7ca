import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { type OpenTestDatabase, openTestDatabase } from '@creditlane/postgres/test-open-database';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { CallIdempotency } from '@creditlane/rpc/call';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerCall } from './answer-call.ts';
import { createIdempotencySql } from './stored-answers.ts';

let database: OpenTestDatabase;
beforeAll(async () => {
  database = await openTestDatabase('answer_call', createIdempotencySql);
  await database.pool.query('CREATE TABLE effects (effect text)');
});
afterAll(() => database?.close());

test('the answer of a repeated call is the stored message and marked as replayed; a call without a key writes again', async () => {
  const { pool } = database;
  const requestDigest = Buffer.from('digest');
  const idempotency = { callerId: randomUUID(), operation: 'record', key: 'k', requestDigest };
  const marks: string[] = [];
  const call = (given?: CallIdempotency) => ({
    idempotency: given,
    markReplayed: () => void marks.push(given?.key ?? ''),
  });
  const answer = async (value: string, given?: CallIdempotency) => {
    const message = await answerCall(pool, call(given), StringValueSchema, (store) =>
      inTransaction(pool, async (tx) => {
        const made = create(StringValueSchema, { value });
        await store(tx, made);
        await tx.query('INSERT INTO effects VALUES ($1)', [value]);
        return made;
      }),
    );
    return message.value;
  };
  expect(await answer('first', idempotency)).toBe('first');
  expect(marks).toEqual([]);
  expect(await answer('second', idempotency)).toBe('first');
  expect(marks).toEqual(['k']);
  expect([await answer('third'), await answer('fourth')]).toEqual(['third', 'fourth']);
  const { rows } = await pool.query('SELECT effect FROM effects');
  expect(rows.map(({ effect }) => effect)).toEqual(['first', 'third', 'fourth']);
  expect(marks).toEqual(['k']);
});
