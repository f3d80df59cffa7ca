import { create, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { LoanTermsSchema, PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { type DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { describe, expect, test } from 'vitest';
import {
  asIntegration,
  newSubmission,
  type Submitted,
  WORKSHEET,
  withSubmissionToDecide,
} from './test-decisions.ts';

const world = withSubmissionToDecide();

const decide = (
  decision: MessageInitShape<typeof DecisionSchema>,
  context = asIntegration({ creditorId: world.submission.creditorId }),
) => {
  const { applicationId, creditorId } = world.submission;
  return world.service.client.recordDecision({ applicationId, creditorId, decision }, context);
};

const eventsOf = async ({ applicationId }: Submitted) => {
  await world.service.settled();
  return world.service.events.filter((event) => event.applicationId === applicationId);
};

/** How many rows of each table are about the submission. */
const rowsOf = async ({ applicationId }: Submitted) => {
  const { rows } = await world.service.sql.query(
    `SELECT (SELECT last_seq FROM submissions WHERE application_id = $1) AS seq,
       (SELECT count(*)::int FROM decisions WHERE application_id = $1) AS decisions,
       (SELECT count(*)::int FROM outbox WHERE key = $1::text) AS events`,
    [applicationId],
  );
  return rows[0];
};

const APPROVED = { decision: DecisionValue.APPROVED };

describe('every value that a creditor may give', () => {
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
    const [first, second, ...others] = await eventsOf(world.submission);
    expect(first?.decision?.decision).toBe(DecisionValue.AWAITING_DECISION);
    expect(second?.decision).toEqual(answer.decision);
    expect(second?.sequence).toBe(2n);
    expect(others).toEqual([]);
  });
});

test('a decision keeps each of its figures exactly', async () => {
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
  const { applicationId, creditorId } = world.submission;
  const answer = await world.service.client.getDecision(
    { applicationId, creditorId },
    asIntegration({ creditorId }),
  );
  expect(answer.decision).toMatchObject(decision);
  expect((await eventsOf(world.submission)).at(-1)?.decision).toEqual(answer.decision);
});

test('terms hold from decision to decision until another gives them, beginning with the worksheet', async () => {
  await decide({ ...APPROVED, interestRate: 5.25 });
  await decide({ ...APPROVED, paymentFrequency: PaymentFrequency.WEEKLY, term: 48 });
  await decide({ decision: DecisionValue.DECLINED });
  await decide({ ...APPROVED, firstPaymentDate: '2026-02-28', interestRate: 0 });

  const events = await eventsOf(world.submission);
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
    expect(event.retailerId).toBe(world.submission.retailerId);
    expect(event.creditorId).toBe(world.submission.creditorId);
  }
});

test('fifty writes at once get fifty sequences without a gap, published in order', async () => {
  await Promise.all(Array.from({ length: 50 }, (_, index) => decide({ ...APPROVED, term: index })));
  const { rows } = await world.service.sql.query(
    'SELECT seq, term FROM decisions WHERE application_id = $1 ORDER BY seq',
    [world.submission.applicationId],
  );
  const expected = Array.from({ length: 51 }, (_, index) => index + 1);
  expect(rows.map(({ seq }) => seq)).toEqual(expected);
  const events = await eventsOf(world.submission);
  expect(events.map(({ sequence }) => Number(sequence))).toEqual(expected);
  // What the events tell is what the history has.
  expect(events.map(({ decision }) => decision?.term ?? null)).toEqual(
    rows.map(({ term }) => term),
  );
  expect(await rowsOf(world.submission)).toEqual({ seq: 51, decisions: 51, events: 51 });
});

test('the record and the event bear the same time, and the trace of the call', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const before = Date.now();
  await decide(
    APPROVED,
    asIntegration({ creditorId: world.submission.creditorId }, { traceparent }),
  );
  const { rows } = await world.service.sql.query(
    `SELECT recorded_at, traceparent FROM decisions JOIN outbox ON key = application_id::text
     AND (payload ->> 'sequence')::int = seq WHERE application_id = $1 AND seq = 2`,
    [world.submission.applicationId],
  );
  const event = (await eventsOf(world.submission)).at(-1);
  expect(rows[0].traceparent).toBe(traceparent);
  expect(event?.recordedAt && timestampDate(event.recordedAt)).toEqual(rows[0].recorded_at);
  expect(rows[0].recorded_at.getTime()).toBeGreaterThanOrEqual(before);
});

test('an application is one, however its id is written', async () => {
  const applicationId = world.submission.applicationId.toUpperCase();
  const creditorId = world.submission.creditorId.toUpperCase();
  await world.service.client.recordDecision(
    { applicationId, creditorId, decision: APPROVED },
    asIntegration({ creditorId }),
  );
  expect((await eventsOf(world.submission)).map(({ sequence }) => sequence)).toEqual([1n, 2n]);
});

describe('a refused write leaves nothing behind', () => {
  test.each([
    ['AWAITING_DECISION', { decision: DecisionValue.AWAITING_DECISION }, '/decision'],
    ['DRAFT', { decision: DecisionValue.DRAFT }, '/decision'],
    ['a date that is none', { ...APPROVED, deliveryDate: '2026-02-30' }, '/deliveryDate'],
  ])('%s', async (_, decision, pointer) => {
    await expect(decide(decision)).rejects.toMatchObject({
      kind: 'invalid',
      code: 'invalid_decision',
      fields: [{ pointer }],
    });
    expect(await rowsOf(world.submission)).toEqual({ seq: 1, decisions: 1, events: 1 });
  });

  test('no value at all', async () => {
    await expect(decide({})).rejects.toMatchObject({ kind: 'invalid' });
    expect(await rowsOf(world.submission)).toEqual({ seq: 1, decisions: 1, events: 1 });
  });

  test('a statement that fails half way', async () => {
    // More than a sequence column can hold is reached after the row was locked and advanced.
    await world.service.sql.query(
      'UPDATE submissions SET last_seq = 2147483647 WHERE application_id = $1',
      [world.submission.applicationId],
    );
    await expect(decide(APPROVED)).rejects.toMatchObject({ kind: 'internal' });
    expect(await rowsOf(world.submission)).toMatchObject({ decisions: 1, events: 1 });
  });
});

test('a write whose connection dies is worth another try, and left nothing', async () => {
  await world.service.whileHeld(world.submission, async () => {
    const write = expect(decide(APPROVED)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect.poll(world.service.lockWaiters).toHaveLength(1);
    const [pid] = await world.service.lockWaiters();
    await world.service.sql.query('SELECT pg_terminate_backend($1)', [pid]);
    await write;
  });
  expect(await rowsOf(world.submission)).toEqual({ seq: 1, decisions: 1, events: 1 });
  await decide(APPROVED);
  expect(await rowsOf(world.submission)).toEqual({ seq: 2, decisions: 2, events: 2 });
});

describe('a submission that is another’s looks like none', () => {
  const missing = { kind: 'not_found', code: 'submission_not_found' };

  test('to another creditor, to the retailer and to a caller without scope', async () => {
    const { retailerId } = world.submission;
    const nowhere = newSubmission();
    const { applicationId, creditorId } = nowhere;
    const unknown = await world.service.client
      .recordDecision(
        { applicationId, creditorId, decision: APPROVED },
        asIntegration({ creditorId }),
      )
      .catch((fault) => fault);
    expect(unknown).toMatchObject(missing);
    for (const scope of [{ creditorId: newSubmission().creditorId }, { retailerId }, {}]) {
      const refusal = await decide(APPROVED, asIntegration(scope)).catch((fault) => fault);
      const { kind, code, message, fields } = unknown;
      expect(refusal).toMatchObject({ kind, code, message, fields });
    }
    expect(await rowsOf(world.submission)).toEqual({ seq: 1, decisions: 1, events: 1 });
  });

  test('and nobody is asked about it', async () => {
    const askedBefore = world.service.applications.asked;
    await expect(decide(APPROVED, asIntegration({}))).rejects.toMatchObject(missing);
    expect(world.service.applications.asked).toBe(askedBefore);
  });
});
