import { randomUUID } from 'node:crypto';
import { SealError } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { rewrapTable } from '@creditlane/crypto/rotation';
import { inTransaction } from '@creditlane/postgres/transaction';
import { expect, test } from 'vitest';
import { aRead, KEYS, NEXT_KEYS, RING } from '../custody/test-custody.ts';
import { findRecordsAfter } from '../store/audit-log.ts';
import { sealedHeads } from '../store/sealed-tables.ts';
import { appendAuditRecord } from './audit-log.ts';
import { type AuditRecord, hashOf, NO_HASH } from './audit-record.ts';
import { useAuditChain } from './test-audit-chain.ts';
import { type NotedHead, type Verification, verifyAuditLog, verifyChain } from './verify-chain.ts';

const chain = useAuditChain();
const { append, appendReads, sealedHead, tamper } = chain;

const verify = (noted: NotedHead[] = []) =>
  verifyChain(chain.database.pool, RING, chain.retailerId, noted);

function headOf(verification: Verification): NotedHead {
  if (verification.kind === 'broken') throw new Error(verification.problem);
  return verification.head;
}

test('records are numbered 1, 2, 3 … and their chain is whole', async () => {
  const record = aRead(chain.retailerId, {
    action: 'PULL_FINISHED',
    outcome: 'COMPLETE',
    source: 'EQUIFAX',
  });
  await append(record);
  await appendReads(2);
  const { rows } = await chain.database.pool.query(
    'SELECT seq, action, request_id, purpose, pull_id, outcome, source FROM audit_records WHERE retailer_id = $1 ORDER BY seq',
    [chain.retailerId],
  );
  expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(rows[0]).toEqual({
    seq: 1,
    action: 'PULL_FINISHED',
    request_id: 'request-1',
    purpose: 'CREDIT_APPLICATION',
    pull_id: record.pullId,
    outcome: 'COMPLETE',
    source: 'EQUIFAX',
  });
  expect(headOf(await verify())).toMatchObject({ retailerId: chain.retailerId, seq: 3 });
});

test('concurrent appends of one retailer make one chain without a gap', async () => {
  await Promise.all(Array.from({ length: 20 }, () => append(aRead(chain.retailerId))));
  expect(headOf(await verify())).toMatchObject({ seq: 20 });
});

test('a transaction that is rolled back leaves no record and no gap', async () => {
  const scoped = chain.database.requests.within({ retailers: [chain.retailerId] });
  const failed = inTransaction(scoped, async (tx) => {
    await appendAuditRecord(tx, RING, aRead(chain.retailerId));
    throw new Error('rolled back');
  });
  await expect(failed).rejects.toThrow('rolled back');
  await appendReads(1);
  expect(headOf(await verify())).toMatchObject({ seq: 1 });
});

test('a chain of more records than one query reads is whole', async () => {
  await appendReads(4);
  for (const recordsPerQuery of [1, 3, 4]) {
    const verified = await verifyChain(
      chain.database.pool,
      RING,
      chain.retailerId,
      [],
      recordsPerQuery,
    );
    expect(headOf(verified)).toMatchObject({ seq: 4 });
  }
});

test('after a rotation of the key ring the chain goes on, and is whole without the old key', async () => {
  await appendReads(2);
  const both = KeyRing.parse(`${NEXT_KEYS},${KEYS}`);
  await rewrapTable(both, sealedHeads.column(chain.database.pool));
  const old = 'SELECT FROM audit_heads WHERE sealed_with <> $1';
  expect((await chain.database.pool.query(old, ['k2'])).rowCount).toBe(0);
  const next = KeyRing.parse(NEXT_KEYS);
  await inTransaction(chain.database.pool, (tx) =>
    appendAuditRecord(tx, next, aRead(chain.retailerId)),
  );
  expect(headOf(await verifyChain(chain.database.pool, next, chain.retailerId))).toMatchObject({
    seq: 3,
  });
});

test.each([
  ['UPDATE audit_records SET outcome = outcome', 'the owner'],
  ['DELETE FROM audit_records', 'the owner'],
  ['TRUNCATE audit_records', 'the owner'],
  ['UPDATE audit_records SET outcome = outcome', 'a request'],
  ['DELETE FROM audit_records', 'a request'],
  ['TRUNCATE audit_records', 'a request'],
])('%s by %s is not permitted', async (statement, who) => {
  await appendReads(1);
  const db =
    who === 'a request'
      ? chain.database.requests.within({ retailers: [chain.retailerId] })
      : chain.database.pool;
  const attempt = inTransaction(db, (tx) => tx.query(statement));
  await expect(attempt).rejects.toMatchObject({ code: '42501' });
});

test.each([
  'UPDATE audit_records SET outcome = outcome',
  'DELETE FROM audit_records',
  'TRUNCATE audit_records',
])(
  '%s by an owner who grants itself the privilege is refused by the trigger',
  async (statement) => {
    await appendReads(1);
    const attempt = inTransaction(chain.database.pool, async (tx) => {
      await tx.query('GRANT UPDATE, DELETE, TRUNCATE ON audit_records TO CURRENT_USER');
      await tx.query(statement);
    });
    await expect(attempt).rejects.toMatchObject({ code: '23001' });
  },
);

test.each([
  {
    what: 'a changed record',
    sql: [`UPDATE audit_records SET outcome = 'x' WHERE THIS AND seq = 2`],
    seq: 2,
  },
  {
    what: 'a changed time',
    sql: [
      `UPDATE audit_records SET recorded_at = recorded_at + interval '1 ms' WHERE THIS AND seq = 3`,
    ],
    seq: 3,
  },
  {
    what: 'an added retailer of the request',
    sql: ['UPDATE audit_records SET retailer_context = retailer_id WHERE THIS AND seq = 2'],
    seq: 2,
  },
  {
    what: 'a removed retailer of the request',
    sql: ['UPDATE audit_records SET retailer_context = NULL WHERE THIS AND seq = 3'],
    seq: 3,
  },
  {
    what: 'a missing first record',
    sql: ['DELETE FROM audit_records WHERE THIS AND seq = 1'],
    seq: 1,
  },
  { what: 'a missing record', sql: ['DELETE FROM audit_records WHERE THIS AND seq = 2'], seq: 2 },
  {
    what: 'records cut off at the end',
    sql: ['DELETE FROM audit_records WHERE THIS AND seq >= 3'],
    seq: 3,
  },
  { what: 'all records cut off', sql: ['DELETE FROM audit_records WHERE THIS'], seq: 1 },
  {
    what: 'two records that changed places',
    sql: [
      'UPDATE audit_records SET seq = 99 WHERE THIS AND seq = 2',
      'UPDATE audit_records SET seq = 2 WHERE THIS AND seq = 3',
      'UPDATE audit_records SET seq = 3 WHERE THIS AND seq = 99',
    ],
    seq: 2,
  },
  { what: 'a missing head', sql: ['DELETE FROM audit_heads WHERE THIS'], seq: 5 },
  {
    what: 'a head of another chain',
    sql: [
      `UPDATE audit_heads SET sealed = (SELECT sealed FROM audit_heads WHERE NOT THIS AND sealed_with = 'k1' LIMIT 1) WHERE THIS`,
    ],
    seq: 5,
  },
])('$what is reported with its place', async ({ sql, seq }) => {
  await append(aRead(randomUUID()));
  await appendReads(2);
  await append(aRead(chain.retailerId, { retailerContext: randomUUID() }));
  await appendReads(1);
  await tamper(...sql);
  expect(await verify()).toMatchObject({ kind: 'broken', retailerId: chain.retailerId, seq });
});

test('a forged last record with a correct hash is reported, because its forger cannot seal a head', async () => {
  const record = aRead(chain.retailerId);
  await append(record);
  const forged = hashOf(NO_HASH, 1, { ...record, outcome: 'forged' }).toString('hex');
  await tamper(`UPDATE audit_records SET outcome = 'forged', hash = '\\x${forged}' WHERE THIS`);
  const problem = 'the head names another record 1';
  expect(await verify()).toMatchObject({ kind: 'broken', seq: 2, problem });
});

test('records after a head that was put back are reported', async () => {
  await appendReads(2);
  const earlier = await sealedHead();
  await appendReads(1);
  await tamper(`UPDATE audit_heads SET sealed = '\\x${earlier}' WHERE THIS`);
  const problem = 'the head names another record 2';
  expect(await verify()).toMatchObject({ kind: 'broken', seq: 4, problem });
});

test('a chain that was set back with its head lacks the head that was noted before', async () => {
  await appendReads(2);
  const earlier = await sealedHead();
  await appendReads(2);
  const noted = headOf(await verify());
  await tamper(
    'DELETE FROM audit_records WHERE THIS AND seq > 2',
    `UPDATE audit_heads SET sealed = '\\x${earlier}' WHERE THIS`,
  );
  expect(headOf(await verify())).toMatchObject({ seq: 2 });
  expect(await verify([noted])).toMatchObject({ kind: 'broken', seq: 3 });
  await appendReads(3);
  expect(await verify([noted])).toMatchObject({ kind: 'broken', seq: 4 });
});

test('a chain that was replaced is reported by the head noted before, also when the head noted after comes last', async () => {
  await appendReads(1);
  const earlier = await sealedHead();
  await appendReads(1);
  const before = headOf(await verify());
  await tamper(
    'DELETE FROM audit_records WHERE THIS AND seq > 1',
    `UPDATE audit_heads SET sealed = '\\x${earlier}' WHERE THIS`,
  );
  await append(aRead(chain.retailerId, { outcome: 'UNKNOWN' }));
  const after = headOf(await verify());
  expect(after.seq).toBe(before.seq);
  expect(await verify([after])).toMatchObject({ kind: 'whole' });
  const problem = 'the record is another one than the noted head names';
  expect(await verify([before, after])).toMatchObject({ kind: 'broken', seq: 2, problem });
});

test('a chain that was removed whole is reported when its head was noted', async () => {
  await appendReads(1);
  const noted = headOf(await verify());
  await tamper('DELETE FROM audit_records WHERE THIS', 'DELETE FROM audit_heads WHERE THIS');
  const found: Verification[] = [];
  for await (const it of verifyAuditLog(chain.database.pool, RING, [noted])) found.push(it);
  expect(found).toContainEqual(
    expect.objectContaining({ kind: 'broken', retailerId: chain.retailerId, seq: 1 }),
  );
});

/** Inserts a requested pull without a record, and resolves to its id. */
async function insertPull(): Promise<string> {
  const pullId = randomUUID();
  await chain.database.pool.query(
    `INSERT INTO pulls (id, retailer_id, application_id, applicant_id, key_id, seq, last_request, source, state, forced,
       requested_by, request_id, consent, attempts, fence, requested_at)
     VALUES ($1, $2, $1, $1, $1, 1, 1, 'EQUIFAX', 'REQUESTED', false, '', '', '{}', 0, 0, now())`,
    [pullId, chain.retailerId],
  );
  return pullId;
}

test('a pull without a record is reported, also of a retailer without a chain', async () => {
  const pullId = await insertPull();
  const found: Verification[] = [];
  for await (const it of verifyAuditLog(chain.database.pool, RING)) found.push(it);
  const problem = `pull ${pullId} has no record PULL_REQUESTED that matches it`;
  expect(found).toContainEqual({ kind: 'broken', retailerId: chain.retailerId, seq: 1, problem });
  await append(aRead(chain.retailerId, { action: 'PULL_REQUESTED', pullId }));
  expect(headOf(await verify())).toMatchObject({ seq: 1 });
});

test('a pull whose sending or end differs from its records is reported, and one with a late answer is whole', async () => {
  const pullId = await insertPull();
  const set = (change: string) =>
    chain.database.pool.query(`UPDATE pulls SET ${change} WHERE id = $1`, [pullId]);
  const record = (action: AuditRecord['action'], outcome?: string) =>
    append(aRead(chain.retailerId, { action, pullId, outcome }));
  const lacks = async (action: string) =>
    expect(await verify()).toMatchObject({
      problem: `pull ${pullId} has no record ${action} that matches it`,
    });
  await record('PULL_REQUESTED');
  await set('sent_at = now()');
  await lacks('PULL_SENT');
  await record('PULL_SENT');
  headOf(await verify());
  await set(`state = 'UNKNOWN', finished_at = now()`);
  await lacks('PULL_FINISHED');
  await record('PULL_FINISHED', 'UNKNOWN');
  headOf(await verify());
  await set(`state = 'COMPLETE'`);
  await lacks('PULL_FINISHED');
  await record('PULL_FINISHED', 'COMPLETE');
  headOf(await verify());
  await set(`state = 'UNKNOWN'`);
  await lacks('PULL_FINISHED');
  await set(`state = 'FAILED', failure = 'CONSENT'`);
  await lacks('PULL_FINISHED');
  await record('PULL_FINISHED', 'CONSENT');
  headOf(await verify());
});

test('an append to a chain whose head was changed is refused with its act', async () => {
  await append(aRead(randomUUID()));
  await appendReads(1);
  await tamper(
    `UPDATE audit_heads SET sealed = (SELECT sealed FROM audit_heads WHERE NOT THIS AND sealed_with = 'k1' LIMIT 1) WHERE THIS`,
  );
  await expect(append(aRead(chain.retailerId))).rejects.toThrow(SealError);
});

test('a request cannot append to the chain of another retailer', async () => {
  const scoped = chain.database.requests.within({ retailers: [randomUUID()] });
  const attempt = inTransaction(scoped, (tx) =>
    appendAuditRecord(tx, RING, aRead(chain.retailerId)),
  );
  await expect(attempt).rejects.toMatchObject({ code: '42501' });
});

test('a version whose statements are prepared reads the log after a newer version has added a column', async () => {
  await appendReads(1);
  const undone = inTransaction(chain.database.pool, async (tx) => {
    const before = await findRecordsAfter(tx, chain.retailerId, 0, 10);
    await tx.query('ALTER TABLE audit_records ADD COLUMN added text');
    expect(await findRecordsAfter(tx, chain.retailerId, 0, 10)).toEqual(before);
    throw new Undone();
  });
  await expect(undone).rejects.toBeInstanceOf(Undone);
});

class Undone extends Error {}
