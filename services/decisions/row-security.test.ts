import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import type { RowScope } from '@creditlane/postgres/row-security/request-pool';
import { inTransaction } from '@creditlane/postgres/transaction';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import {
  findBreachesBetween,
  listUnsecuredTables,
  listUpdatedColumns,
} from '@creditlane/service/test-row-security';
import { expect, test } from 'vitest';
import {
  insertFree,
  insertFreeStatement,
  insertOne,
  insertOneStatement,
} from './record-decision/insert-decisions.ts';
import { findDecisions, findLatestDecision } from './store/decisions.ts';
import type { TestSubmission } from './test-applications.ts';
import { asIntegration, newSubmission, useSubmission } from './test-decisions.ts';

const fixture = useSubmission();

/** A new submission with a decision, whose answer is stored for `caller`. */
async function decideOnNew(caller: string): Promise<TestSubmission> {
  const { service } = fixture;
  const submission = newSubmission();
  await service.submit(submission);
  const { applicationId, creditorId } = submission;
  const decision = { decision: DecisionValue.APPROVED };
  const as = asIntegration({ creditorId }, { subject: caller, idempotencyKey: 'key' });
  await service.client.recordDecision({ applicationId, creditorId, decision }, as);
  return submission;
}

test('every table is under row security, or out of the reach of requests', async () => {
  expect(await listUnsecuredTables(fixture.service.database)).toEqual({
    // TypeORM's list of the migrations that were run.
    migrations: [],
    // Of libs/messaging: only the service itself reads events, and requests can do no more than add some.
    outbox: ['INSERT'],
    outbox_lease: [],
    inbox: [],
    dead_letters: [],
    dead_letter_redrives: [],
    reconciliation_positions: [],
    reconciliation_differences: [],
  });
});

test('a request changes nothing of a submission but its terms, last sequence and income status', async () => {
  const { database } = fixture.service;
  expect(await listUpdatedColumns(database, 'submissions')).toEqual([
    'last_seq',
    'terms',
    'income_status',
    'income_status_set_at',
    'income_status_set_by',
  ]);
  expect(await listUpdatedColumns(database, 'decisions')).toEqual([]);
});

test("a retailer's request reads the submissions and decisions of its scope, and writes none", async () => {
  const submission = await decideOnNew(randomUUID());
  const { applicationId, creditorId, retailerId } = submission;
  const within = (scope: RowScope, text: string) =>
    inTransaction(fixture.service.database.requests.within(scope), async (tx) => {
      const { rowCount } = await tx.query(text, [applicationId]);
      return rowCount;
    });
  const update = 'UPDATE submissions SET last_seq = last_seq WHERE application_id = $1';
  const insert = `INSERT INTO decisions (application_id, creditor_id, seq, recorded_at, decision)
    SELECT application_id, creditor_id, 9, now(), 'DECLINED' FROM submissions WHERE application_id = $1`;
  const read = 'SELECT FROM decisions WHERE application_id = $1';
  expect(await within({ retailers: [retailerId] }, read)).toBe(2);
  for (const text of [update, insert]) {
    const refused = { code: '42501', message: expect.stringContaining('row-level security') };
    await expect(within({ retailers: [retailerId] }, text)).rejects.toMatchObject(refused);
    expect(await within({ creditors: [creditorId] }, text)).toBe(1);
  }
});

test.each(['creditors', 'retailers'] as const)(
  'without their filter, statements of %s reach no row of another',
  async (side) => {
    expect(await findBreachesBetween(side, fixture.service.database, decideOnNew)).toEqual([]);
  },
);

test('a query whose own filter admits every tenant finds only the decisions of the scope', async () => {
  const { requests } = fixture.service.database;
  const submission = await decideOnNew(randomUUID());
  const { creditorId, retailerId } = submission;
  const everyone = { creditorId, retailerId };
  const findIn = async (scope: RowScope) => {
    const db = requests.within(scope);
    const page = await findDecisions(db, submission, everyone, { before: 100, limit: 10 });
    return [page?.length, (await findLatestDecision(db, submission, everyone))?.decision];
  };
  const found = [2, DecisionValue.APPROVED];
  expect(await findIn({ creditors: [creditorId] })).toEqual(found);
  expect(await findIn({ retailers: [retailerId] })).toEqual(found);
  const nothing = [undefined, undefined];
  expect(await findIn({ creditors: [retailerId], retailers: [creditorId] })).toEqual(nothing);
  expect(await findIn({})).toEqual(nothing);
});

const newDecision = (submission: TestSubmission) => ({
  submission,
  decision: create(DecisionSchema, { decision: DecisionValue.DECLINED }),
  recordedAt: new Date(),
  integrationId: randomUUID(),
  retryToken: randomUUID(),
});

test('decisions outside the scope of their statement are not recorded', async () => {
  const { requests } = fixture.service.database;
  const own = await decideOnNew(randomUUID());
  const foreign = await decideOnNew(randomUUID());
  const asOwn = requests.within({ creditors: [own.creditorId] });
  expect(await insertFree(asOwn, [newDecision(own), newDecision(foreign)])).toEqual([3, undefined]);
  expect(await insertOne(asOwn, newDecision(foreign))).toBeUndefined();
  expect(await insertOne(asOwn, newDecision(own))).toBe(4);
  expect(await insertOne(requests.within({}), newDecision(own))).toBeUndefined();
  const latest = await findLatestDecision(
    requests.within({ retailers: [foreign.retailerId] }),
    foreign,
    foreign,
  );
  expect(latest?.decision).toBe(DecisionValue.APPROVED);
});

/** The plan that the service's connections make in a scope, for any values. */
async function readPlan(text: string, setUp: readonly string[]): Promise<string> {
  const { requests } = fixture.service.database;
  return inTransaction(requests.within({}), async (tx) => {
    for (const statement of setUp) await tx.query(statement);
    const { rows } = await tx.query(`EXPLAIN (GENERIC_PLAN, COSTS OFF) ${text}`);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
}

const STATEMENTS = [insertOneStatement, insertFreeStatement];

test.each(STATEMENTS)('in a scope, $name finds each stored answer by its key', async ({ text }) => {
  const plan = await readPlan(text, ['SET LOCAL enable_seqscan = off']);
  const condition = ['caller_id', 'operation', 'key'].map((it) => `(${it} = request.${it})`);
  expect(plan).toContain(`Index Cond: (${condition.join(' AND ')})`);
});

test.each(STATEMENTS)(
  'with some thousand submissions, $name finds each by its key',
  async ({ text }) => {
    const { sql } = fixture.service;
    await sql.query(
      `INSERT INTO submissions (application_id, creditor_id, retailer_id, submitted_at, last_seq, terms, worksheet)
       SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), 1, '{}', '{}'
       FROM generate_series(1, 5000)`,
    );
    await sql.query('ANALYZE submissions');
    const plan = await readPlan(text, []);
    expect(plan).toContain('using submissions_pkey');
    expect(plan).not.toContain('Seq Scan on submissions');
  },
);
