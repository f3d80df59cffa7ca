import { create, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { LoanTermsSchema, PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { type DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { firstIdOfTime, NIL_UUID } from '@creditlane/runtime/ids';
import { describe, expect, test } from 'vitest';
import { selectRecordedEvents } from '../store/recorded-events.ts';
import type { TestSubmission } from '../test-applications.ts';
import { asIntegration, newSubmission, useSubmission, WORKSHEET } from '../test-decisions.ts';

const fixture = useSubmission();

const decide = (
  decision: MessageInitShape<typeof DecisionSchema>,
  context = asIntegration({ creditorId: fixture.submission.creditorId }),
) => {
  const { applicationId, creditorId } = fixture.submission;
  return fixture.service.client.recordDecision({ applicationId, creditorId, decision }, context);
};

const eventsOf = async ({ applicationId }: TestSubmission) => {
  await fixture.service.settled();
  return fixture.service.events.filter((event) => event.applicationId === applicationId);
};

/** The submission's sequence, and how many rows each table has for the submission. */
const countRows = async ({ applicationId }: TestSubmission) => {
  const { rows } = await fixture.service.sql.query(
    `SELECT (SELECT last_seq FROM submissions WHERE application_id = $1) AS seq,
       (SELECT count(*)::int FROM decisions WHERE application_id = $1) AS decisions,
       (SELECT count(*)::int FROM outbox WHERE key = $1::text) AS events`,
    [applicationId],
  );
  return rows[0];
};

const APPROVED = { decision: DecisionValue.APPROVED };

test('a decision has its event among the recorded ones once the event is published, also when its row is lost', async () => {
  const { sql, settled } = fixture.service;
  const recorded = async () => {
    const values = [NIL_UUID, firstIdOfTime(Date.now() + 60_000), 100];
    return (await selectRecordedEvents.run(sql, values)).map(({ event_id }) => event_id);
  };
  await decide(APPROVED);
  await settled();
  const { rows } = await sql.query('SELECT event_id AS id FROM outbox ORDER BY id DESC LIMIT 1');
  expect(await recorded()).toContain(rows[0].id);
  await sql.query('DELETE FROM outbox WHERE event_id = $1', [rows[0].id]);
  expect(await recorded()).toContain(rows[0].id);
});

test('the comparison of many decisions reads the unpublished events once', async () => {
  const { text } = selectRecordedEvents;
  const { rows } = await fixture.service.sql.query(`EXPLAIN (GENERIC_PLAN) ${text}`);
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('hashed SubPlan');
});

describe('each value that a creditor may give', () => {
  test.each([
    'BOOKED',
    'DOCUMENTS_INCOMPLETE',
    'APPROVED',
    'CONDITIONALLY_APPROVED',
    'WITHDRAWN',
    'DECLINED',
    'INCOMPLETE',
    'PENDING_BANK_CONNECTION',
  ] as const)('%s is recorded, answered and published', async (name) => {
    const decision = DecisionValue[name];
    const answer = await decide({ decision, conditions: `${name}: état «ok»\n🙂` });
    expect(answer.decision).toMatchObject({ decision, conditions: `${name}: état «ok»\n🙂` });
    const [first, second, ...others] = await eventsOf(fixture.submission);
    expect(first?.decision?.decision).toBe(DecisionValue.AWAITING_DECISION);
    expect(second?.decision).toEqual(answer.decision);
    expect(second?.sequence).toBe(2n);
    expect(others).toEqual([]);
  });
});

test('every field of a decision is recorded and published exactly', async () => {
  const decision = {
    decision: DecisionValue.BOOKED,
    firstPaymentDate: '2026-03-31',
    paymentFrequency: PaymentFrequency.SEMI_MONTHLY,
    interestRate: 6.999,
    paymentAmount: 412.1,
    conditions: 'Proof of income',
    program: 'Prime',
    tier: 'A+',
    salePrice: 31_999.99,
    downPayment: 0.1,
    rebate: 0,
    dealerAdminFee: 399,
    gapInsurance: -1.5,
    extendedWarranty: 1e15,
    deliveryDate: '2028-02-29',
    term: 84,
    gpsFee: 1,
    licenseFee: 2,
    lenderAdminFee: 3,
    ppsaFee: 4,
    installationDeliveryFee: 5,
    lifeInsuranceFee: 6,
    ahInsuranceFee: 7,
    otherNonTaxable: 8,
    otherTaxable: 1e-7,
    taxProvince: 'ON',
    maxPayment: 500.01,
  };
  await decide(decision);
  const { applicationId, creditorId } = fixture.submission;
  const answer = await fixture.service.client.getDecision(
    { applicationId, creditorId },
    asIntegration({ creditorId }),
  );
  expect(answer.decision).toMatchObject(decision);
  expect((await eventsOf(fixture.submission)).at(-1)?.decision).toEqual(answer.decision);
});

test('a term stays in force until a decision changes it, and the worksheet stays as it was', async () => {
  await decide({ ...APPROVED, interestRate: 5.25 });
  await decide({ ...APPROVED, paymentFrequency: PaymentFrequency.WEEKLY, term: 48 });
  await decide({ decision: DecisionValue.DECLINED });
  await decide({ ...APPROVED, firstPaymentDate: '2026-02-28', interestRate: 0 });

  const events = await eventsOf(fixture.submission);
  const worksheet = toJson(LoanTermsSchema, create(LoanTermsSchema, WORKSHEET));
  const json = (terms = create(LoanTermsSchema)) => toJson(LoanTermsSchema, terms);
  expect(events.map(({ terms }) => json(terms))).toEqual([
    worksheet,
    { ...(worksheet as object), interestRate: 5.25 },
    {
      firstPaymentDate: '2026-01-15',
      frequency: 'PAYMENT_FREQUENCY_WEEKLY',
      interestRate: 5.25,
      term: 48,
    },
    {
      firstPaymentDate: '2026-01-15',
      frequency: 'PAYMENT_FREQUENCY_WEEKLY',
      interestRate: 5.25,
      term: 48,
    },
    {
      firstPaymentDate: '2026-02-28',
      frequency: 'PAYMENT_FREQUENCY_WEEKLY',
      interestRate: 0,
      term: 48,
    },
  ]);
  for (const event of events) {
    expect(json(event.worksheet)).toEqual(worksheet);
    expect(event.retailerId).toBe(fixture.submission.retailerId);
    expect(event.creditorId).toBe(fixture.submission.creditorId);
  }
});

test('fifty decisions at once get fifty sequences without a gap, published in order', async () => {
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => decide({ ...APPROVED, term: index + 1 })),
  );
  const { rows } = await fixture.service.sql.query(
    'SELECT seq, term FROM decisions WHERE application_id = $1 ORDER BY seq',
    [fixture.submission.applicationId],
  );
  const expected = Array.from({ length: 51 }, (_, index) => index + 1);
  expect(rows.map(({ seq }) => seq)).toEqual(expected);
  const events = await eventsOf(fixture.submission);
  expect(events.map(({ sequence }) => Number(sequence))).toEqual(expected);
  // The events and the history agree.
  expect(events.map(({ decision }) => decision?.term ?? null)).toEqual(
    rows.map(({ term }) => term),
  );
  expect(await countRows(fixture.submission)).toEqual({ seq: 51, decisions: 51, events: 51 });
});

test('the row and the event have the same time, and the trace of the call', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const before = Date.now();
  await decide(
    APPROVED,
    asIntegration({ creditorId: fixture.submission.creditorId }, { traceparent }),
  );
  const { rows } = await fixture.service.sql.query(
    `SELECT recorded_at, traceparent FROM decisions JOIN outbox ON key = application_id::text
     AND (payload ->> 'sequence')::int = seq WHERE application_id = $1 AND seq = 2`,
    [fixture.submission.applicationId],
  );
  const event = (await eventsOf(fixture.submission)).at(-1);
  expect(rows[0].traceparent).toBe(traceparent);
  expect(event?.recordedAt && timestampDate(event.recordedAt)).toEqual(rows[0].recorded_at);
  expect(rows[0].recorded_at.getTime()).toBeGreaterThanOrEqual(before);
});

test('ids in upper case name the same submission', async () => {
  const applicationId = fixture.submission.applicationId.toUpperCase();
  const creditorId = fixture.submission.creditorId.toUpperCase();
  await fixture.service.client.recordDecision(
    { applicationId, creditorId, decision: APPROVED },
    asIntegration({ creditorId }),
  );
  expect((await eventsOf(fixture.submission)).map(({ sequence }) => sequence)).toEqual([1n, 2n]);
});

describe('a refused decision writes nothing:', () => {
  test.each([
    ['AWAITING_DECISION', { decision: DecisionValue.AWAITING_DECISION }, '/decision/decision'],
    ['DRAFT', { decision: DecisionValue.DRAFT }, '/decision/decision'],
    [
      'a date that does not exist',
      { ...APPROVED, deliveryDate: '2026-02-30' },
      '/decision/deliveryDate',
    ],
  ])('%s', async (_, decision, pointer) => {
    await expect(decide(decision)).rejects.toMatchObject({
      kind: 'invalid',
      code: 'invalid_decision',
      fields: [{ pointer }],
    });
    expect(await countRows(fixture.submission)).toEqual({ seq: 1, decisions: 1, events: 1 });
  });

  test('no value at all', async () => {
    await expect(decide({})).rejects.toMatchObject({ kind: 'invalid' });
    expect(await countRows(fixture.submission)).toEqual({ seq: 1, decisions: 1, events: 1 });
  });

  test('a statement that fails after it changed a row', async () => {
    // The sequence overflows after the statement has locked and advanced the row.
    await fixture.service.sql.query(
      'UPDATE submissions SET last_seq = 2147483647 WHERE application_id = $1',
      [fixture.submission.applicationId],
    );
    await expect(decide(APPROVED)).rejects.toMatchObject({ kind: 'internal' });
    expect(await countRows(fixture.submission)).toMatchObject({ decisions: 1, events: 1 });
  });
});

test('a decision whose connection breaks is unavailable and writes nothing', async () => {
  await fixture.service.whileLocked(fixture.submission, async () => {
    const write = expect(decide(APPROVED)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect.poll(fixture.service.lockWaiters).toHaveLength(1);
    const [pid] = await fixture.service.lockWaiters();
    await fixture.service.sql.query('SELECT pg_terminate_backend($1)', [pid]);
    await write;
  });
  expect(await countRows(fixture.submission)).toEqual({ seq: 1, decisions: 1, events: 1 });
  await decide(APPROVED);
  expect(await countRows(fixture.submission)).toEqual({ seq: 2, decisions: 2, events: 2 });
});

describe('a submission of another tenant is not found', () => {
  const notFound = { kind: 'not_found', code: 'submission_not_found' };

  test('by another creditor, by its retailer and by a caller without scope', async () => {
    const { retailerId } = fixture.submission;
    const { applicationId, creditorId } = newSubmission();
    const unknown = await fixture.service.client
      .recordDecision(
        { applicationId, creditorId, decision: APPROVED },
        asIntegration({ creditorId }),
      )
      .catch((fault) => fault);
    expect(unknown).toMatchObject(notFound);
    for (const scope of [{ creditorId: newSubmission().creditorId }, { retailerId }, {}]) {
      const refusal = await decide(APPROVED, asIntegration(scope)).catch((fault) => fault);
      const { kind, code, message, fields } = unknown;
      expect(refusal).toMatchObject({ kind, code, message, fields });
    }
    expect(await countRows(fixture.submission)).toEqual({ seq: 1, decisions: 1, events: 1 });
  });

  test('and the applications service is not asked', async () => {
    const callCount = fixture.service.applications.callCount;
    await expect(decide(APPROVED, asIntegration({}))).rejects.toMatchObject(notFound);
    expect(fixture.service.applications.callCount).toBe(callCount);
  });
});
