import { randomUUID } from 'node:crypto';
import { SealError } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { rewrapTable } from '@creditlane/crypto/rotation';
import { inTransaction } from '@creditlane/postgres/transaction';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { aRead, KEYS, NEXT_KEYS, openCustodyDatabase, RING } from '../custody/test-custody.ts';
import { findRecordsAfter } from '../store/audit-log.ts';
import { sealedHeads } from '../store/sealed-tables.ts';
import { appendAuditRecord } from './audit-log.ts';
import { type AuditRecord, hashOf, NO_HASH } from './audit-record.ts';
import { type NotedHead, type Verification, verifyAuditLog, verifyChain } from './verify-chain.ts';
import { findBrokenHeads, watchChains } from './watch-chains.ts';

let database: Awaited<ReturnType<typeof openCustodyDatabase>>;
let retailerId: string;
beforeAll(async () => {
  database = await openCustodyDatabase();
});
afterAll(() => database?.close());
beforeEach(() => {
  retailerId = randomUUID();
});

/** Appends as a request does. */
function append(record: AuditRecord): Promise<void> {
  const scoped = database.requests.within({ retailers: [record.retailerId] });
  return inTransaction(scoped, (tx) => appendAuditRecord(tx, RING, record));
}

async function appendReads(count: number): Promise<void> {
  for (let read = 0; read < count; read += 1) await append(aRead(retailerId));
}

const verify = (noted: NotedHead[] = []) => verifyChain(database.pool, RING, retailerId, noted);

function headOf(verification: Verification): NotedHead {
  if (verification.kind === 'broken') throw new Error(verification.problem);
  return verification.head;
}

/** The head as it is stored, in hex. */
async function sealedHead(): Promise<string> {
  const { rows } = await database.pool.query(
    'SELECT sealed FROM audit_heads WHERE retailer_id = $1',
    [retailerId],
  );
  return rows[0].sealed.toString('hex');
}

/** Runs statements as somebody with every privilege on the database does, without triggers. */
async function tamper(...statements: string[]): Promise<void> {
  await database.pool.query('GRANT UPDATE, DELETE ON audit_records TO CURRENT_USER');
  await database.pool.query('GRANT DELETE ON audit_heads TO CURRENT_USER');
  await database.pool.query('ALTER TABLE audit_records DISABLE TRIGGER USER');
  for (const text of statements) {
    await database.pool.query(text.replaceAll('THIS', `retailer_id = '${retailerId}'`));
  }
  await database.pool.query('ALTER TABLE audit_records ENABLE TRIGGER USER');
  await database.pool.query('REVOKE UPDATE, DELETE ON audit_records FROM CURRENT_USER');
  await database.pool.query('REVOKE DELETE ON audit_heads FROM CURRENT_USER');
}

test('records are numbered 1, 2, 3 … and their chain is whole', async () => {
  const record = aRead(retailerId, {
    action: 'PULL_FINISHED',
    outcome: 'COMPLETE',
    source: 'EQUIFAX',
  });
  await append(record);
  await appendReads(2);
  const { rows } = await database.pool.query(
    'SELECT seq, action, request_id, purpose, pull_id, outcome, source FROM audit_records WHERE retailer_id = $1 ORDER BY seq',
    [retailerId],
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
  expect(headOf(await verify())).toMatchObject({ retailerId, seq: 3 });
});

test('concurrent appends of one retailer make one chain without a gap', async () => {
  await Promise.all(Array.from({ length: 20 }, () => append(aRead(retailerId))));
  expect(headOf(await verify())).toMatchObject({ seq: 20 });
});

test('a transaction that is rolled back leaves no record and no gap', async () => {
  const scoped = database.requests.within({ retailers: [retailerId] });
  const failed = inTransaction(scoped, async (tx) => {
    await appendAuditRecord(tx, RING, aRead(retailerId));
    throw new Error('rolled back');
  });
  await expect(failed).rejects.toThrow('rolled back');
  await appendReads(1);
  expect(headOf(await verify())).toMatchObject({ seq: 1 });
});

test('a chain of more records than one query reads is whole', async () => {
  await appendReads(4);
  for (const recordsPerQuery of [1, 3, 4]) {
    const verified = await verifyChain(database.pool, RING, retailerId, [], recordsPerQuery);
    expect(headOf(verified)).toMatchObject({ seq: 4 });
  }
});

test('after a rotation of the key ring the chain goes on, and is whole without the old key', async () => {
  await appendReads(2);
  const both = KeyRing.parse(`${NEXT_KEYS},${KEYS}`);
  await rewrapTable(both, sealedHeads.column(database.pool));
  const old = 'SELECT FROM audit_heads WHERE sealed_with <> $1';
  expect((await database.pool.query(old, ['k2'])).rowCount).toBe(0);
  const next = KeyRing.parse(NEXT_KEYS);
  await inTransaction(database.pool, (tx) => appendAuditRecord(tx, next, aRead(retailerId)));
  expect(headOf(await verifyChain(database.pool, next, retailerId))).toMatchObject({ seq: 3 });
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
    who === 'a request' ? database.requests.within({ retailers: [retailerId] }) : database.pool;
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
    const attempt = inTransaction(database.pool, async (tx) => {
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
  await append(aRead(retailerId, { retailerContext: randomUUID() }));
  await appendReads(1);
  await tamper(...sql);
  expect(await verify()).toMatchObject({ kind: 'broken', retailerId, seq });
});

test('a forged last record with a correct hash is reported, because its forger cannot seal a head', async () => {
  const record = aRead(retailerId);
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

test('a chain that was removed whole is reported when its head was noted', async () => {
  await appendReads(1);
  const noted = headOf(await verify());
  await tamper('DELETE FROM audit_records WHERE THIS', 'DELETE FROM audit_heads WHERE THIS');
  const found: Verification[] = [];
  for await (const it of verifyAuditLog(database.pool, RING, [noted])) found.push(it);
  expect(found).toContainEqual(expect.objectContaining({ kind: 'broken', retailerId, seq: 1 }));
});

/** Inserts a requested pull without a record, and resolves to its id. */
async function insertPull(): Promise<string> {
  const pullId = randomUUID();
  await database.pool.query(
    `INSERT INTO pulls (id, retailer_id, application_id, applicant_id, key_id, seq, last_request, source, state, forced,
       requested_by, request_id, consent, attempts, fence, requested_at)
     VALUES ($1, $2, $1, $1, $1, 1, 1, 'EQUIFAX', 'REQUESTED', false, '', '', '{}', 0, 0, now())`,
    [pullId, retailerId],
  );
  return pullId;
}

test('a pull without a record is reported, also of a retailer without a chain', async () => {
  const pullId = await insertPull();
  const found: Verification[] = [];
  for await (const it of verifyAuditLog(database.pool, RING)) found.push(it);
  const problem = `pull ${pullId} has no record PULL_REQUESTED that matches it`;
  expect(found).toContainEqual({ kind: 'broken', retailerId, seq: 1, problem });
  await append(aRead(retailerId, { action: 'PULL_REQUESTED', pullId }));
  expect(headOf(await verify())).toMatchObject({ seq: 1 });
});

test('a pull whose sending or end differs from its records is reported, and one with a late answer is whole', async () => {
  const pullId = await insertPull();
  const set = (change: string) =>
    database.pool.query(`UPDATE pulls SET ${change} WHERE id = $1`, [pullId]);
  const record = (action: AuditRecord['action'], outcome?: string) =>
    append(aRead(retailerId, { action, pullId, outcome }));
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
  await expect(append(aRead(retailerId))).rejects.toThrow(SealError);
});

test('a request cannot append to the chain of another retailer', async () => {
  const scoped = database.requests.within({ retailers: [randomUUID()] });
  const attempt = inTransaction(scoped, (tx) => appendAuditRecord(tx, RING, aRead(retailerId)));
  await expect(attempt).rejects.toMatchObject({ code: '42501' });
});

test('a version whose statements are prepared reads the log after a newer version has added a column', async () => {
  await appendReads(1);
  const undone = inTransaction(database.pool, async (tx) => {
    const before = await findRecordsAfter(tx, retailerId, 0, 10);
    await tx.query('ALTER TABLE audit_records ADD COLUMN added text');
    expect(await findRecordsAfter(tx, retailerId, 0, 10)).toEqual(before);
    throw new Undone();
  });
  await expect(undone).rejects.toBeInstanceOf(Undone);
});

class Undone extends Error {}

test('a chain whose head does not name its last record is found without reading the others', async () => {
  const deps = { pool: database.pool, keyRing: RING, log: silentLog };
  const watch = async () => (await findBrokenHeads(deps)).broken;
  await appendReads(2);
  const first = await sealedHead();
  await append(aRead(retailerId));
  expect(await watch()).not.toContain(retailerId);
  await tamper(`UPDATE audit_records SET actor = 'forged' WHERE THIS AND seq = 3`);
  expect(await watch()).toContain(retailerId);
  await tamper(`DELETE FROM audit_records WHERE THIS AND seq = 3`);
  expect(await watch()).toContain(retailerId);
  await tamper(`UPDATE audit_heads SET sealed = '\\x${first}' WHERE THIS`);
  expect(await watch()).not.toContain(retailerId);
  await tamper(`UPDATE audit_heads SET sealed = sealed || 'x' WHERE THIS`);
  expect(await watch()).toContain(retailerId);
  await tamper(`DELETE FROM audit_heads WHERE THIS`);
  expect(await watch()).toContain(retailerId);
});

test('a chain whose head has a key that the ring lacks is not reported as broken, and the age of the look grows', async () => {
  await appendReads(1);
  const next = KeyRing.parse(NEXT_KEYS);
  const deps = { pool: database.pool, keyRing: next, log: silentLog };
  const { broken, unopened } = await findBrokenHeads(deps);
  expect(unopened).toContain(retailerId);
  expect(broken).not.toContain(retailerId);
  const metrics = new Metrics();
  const times = [0];
  const watch = watchChains({ ...deps, metrics, nowMs: () => times.shift() ?? 900_000 });
  await watch.close();
  expect(await metrics.text()).toContain('creditlane_credit_file_audit_watch_age_seconds 900\n');
  const problem = 'the head cannot be opened: the key ring does not contain the key of a record';
  const verified = await verifyChain(database.pool, next, retailerId);
  expect(verified).toMatchObject({ kind: 'broken', problem });
});

test('the age of the last look grows while the chains cannot be read', async () => {
  const keyRing = KeyRing.parse(`${KEYS},${NEXT_KEYS}`);
  const away = { connect: () => Promise.reject(new Error('the database is away')) } as never;
  for (const [pool, ageSeconds] of [
    [away, 900],
    [database.pool, 0],
  ] as const) {
    const metrics = new Metrics();
    const times = [0];
    const nowMs = () => times.shift() ?? 900_000;
    const watch = watchChains({ pool, keyRing, log: silentLog, metrics, nowMs });
    await watch.close();
    const age = `creditlane_credit_file_audit_watch_age_seconds ${ageSeconds}\n`;
    expect(await metrics.text()).toContain(age);
  }
});
