import { randomBytes, randomUUID } from 'node:crypto';
import { sealedPrefix } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { type OpenTestDatabase, openTestDatabase } from '@creditlane/postgres/test-open-database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SealedAnswers } from './sealed-answers.ts';
import { createIdempotencySql, storeAnswer } from './stored-answers.ts';

let database: OpenTestDatabase;
beforeAll(async () => {
  database = await openTestDatabase('sealed_answers', createIdempotencySql);
});
afterAll(() => database?.close());

const store = (response: Buffer) => {
  const requestDigest = Buffer.from('digest');
  const id = { callerId: randomUUID(), operation: 'issue', key: 'k', requestDigest };
  return storeAnswer(database.pool, id, response);
};

test('answers with a damaged head hide no key of the other answers', async () => {
  const contents = randomBytes(100);
  // An unknown version, and ids that have no characters, or more than the answer.
  for (const head of ['', '00', '0100', '010261', '02026b31', 'ff']) {
    await store(Buffer.from(head, 'hex'));
  }
  for (const keyId of ['k1', 'k2']) await store(Buffer.concat([sealedPrefix(keyId), contents]));
  const ring = KeyRing.parse(`k1:${randomBytes(32).toString('base64')}`);
  const answers = new SealedAnswers(database.pool, ring);
  expect(await answers.findKeyIds()).toEqual(['k1', 'k2']);
});
