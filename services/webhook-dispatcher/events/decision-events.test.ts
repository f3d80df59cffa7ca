import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import {
  type DecisionRecorded,
  DecisionRecordedSchema,
} from '@creditlane/proto/decisions/v1/decisions_events';
import { describe, expect, test } from 'vitest';
import { decisionSource } from './decision-events.ts';
import { UnreadableEventError } from './webhook-event-type.ts';

const ids = {
  applicationId: '3f0f0c9e-58f5-4a27-a40b-3ea4b1f0ad01',
  creditorId: '3f0f0c9e-58f5-4a27-a40b-3ea4b1f0ad02',
  retailerId: '3f0f0c9e-58f5-4a27-a40b-3ea4b1f0ad03',
};
const worksheet = {
  firstPaymentDate: '2026-04-01',
  frequency: PaymentFrequency.BI_WEEKLY,
  interestRate: 6.99,
  term: 60,
};
type Init = Exclude<MessageInitShape<typeof DecisionRecordedSchema>, DecisionRecorded>;

function recorded(decision: Init['decision'], init: Partial<Init> = {}) {
  return create(DecisionRecordedSchema, {
    ...ids,
    sequence: 1n,
    terms: worksheet,
    worksheet,
    decision,
    ...init,
  });
}

const source = decisionSource({ find: async () => [] });

/** The name of the webhook and its rendered body; `undefined` when the decision has no webhook. */
function render(event: DecisionRecorded) {
  const eventType = source.eventTypeOf(event);
  if (eventType === undefined) return undefined;
  const { name, rendering, renderBody } = eventType;
  if (rendering.at !== 'intake') throw new Error('decisions are rendered at intake');
  return { name, ...renderBody(rendering.payload(event)) };
}

function bodyOf(event: DecisionRecorded): Record<string, unknown> {
  const rendered = render(event);
  if (rendered === undefined) throw new Error('expected a webhook');
  expect(rendered.mismatch).toBeUndefined();
  return JSON.parse(rendered.body);
}

describe('the webhook of a decision', () => {
  test.each([
    [DecisionValue.BOOKED, 'applicationBooked', 'BOOKED'],
    [DecisionValue.APPROVED, 'applicationApproved', 'APPROVED'],
    [
      DecisionValue.CONDITIONALLY_APPROVED,
      'applicationConditionallyApproved',
      'CONDITIONALLY_APPROVED',
    ],
    [DecisionValue.DECLINED, 'applicationDeclined', 'DECLINED'],
    [DecisionValue.PENDING_BANK_CONNECTION, 'pendingBanking', 'PENDING_BANK_CONNECTION'],
    [DecisionValue.INCOMPLETE, 'documentsIncomplete', 'INCOMPLETE'],
    [DecisionValue.DOCUMENTS_INCOMPLETE, 'documentsIncomplete', 'INCOMPLETE'],
    [DecisionValue.AWAITING_DECISION, 'awaitingDecision', 'AWAITING_DECISION'],
  ])('decision %i is reported as %s', (decision, name, status) => {
    expect(render(recorded({ decision }))).toMatchObject({ name, mismatch: undefined });
    expect(bodyOf(recorded({ decision }))).toMatchObject({ ...ids, status });
  });

  test.each([DecisionValue.WITHDRAWN, DecisionValue.DRAFT])(
    'decision %i has no webhook',
    (decision) => {
      expect(render(recorded({ decision }))).toBeUndefined();
    },
  );

  test('an event without an offer has no terms in its body', () => {
    const body = bodyOf(
      recorded({ decision: DecisionValue.BOOKED, conditions: 'none', paymentAmount: 1 }),
    );
    expect(body).toEqual({ ...ids, status: 'BOOKED', conditions: 'none' });
  });

  test('an event with an offer has the terms in force, and no differences where there are none', () => {
    expect(bodyOf(recorded({ decision: DecisionValue.APPROVED }))).toEqual({
      ...ids,
      status: 'APPROVED',
      firstPaymentDate: '2026-04-01',
      frequency: 'BI-WEEKLY',
      interestRate: 6.99,
    });
  });

  test('payments are in Canadian dollars, and differences from the worksheet in decimals', () => {
    const event = recorded(
      { decision: DecisionValue.APPROVED, paymentAmount: 412.5, maxPayment: 500 },
      { terms: { ...worksheet, interestRate: 5.69, term: 72 } },
    );
    expect(bodyOf(event)).toMatchObject({
      approvedPayment: { amount: 412.5, currency: 'CAD' },
      maxPayment: { amount: 500, currency: 'CAD' },
      rateReduction: 1.3,
      termStretch: 12,
    });
  });

  test.each([
    [PaymentFrequency.WEEKLY, 'WEEKLY'],
    [PaymentFrequency.BI_WEEKLY, 'BI-WEEKLY'],
    [PaymentFrequency.SEMI_MONTHLY, 'SEMI-MONTHLY'],
    [PaymentFrequency.MONTHLY, 'MONTHLY'],
  ])('frequency %i is written as %s', (frequency, word) => {
    const event = recorded(
      { decision: DecisionValue.APPROVED },
      { terms: { ...worksheet, frequency } },
    );
    expect(bodyOf(event).frequency).toBe(word);
  });

  test.each([
    ['firstPaymentDate', { firstPaymentDate: '' }],
    ['frequency', { frequency: PaymentFrequency.UNSPECIFIED }],
    ['interestRate', { interestRate: undefined }],
  ])(
    'an approval without %s does not match its schema, and the reason names the field',
    (field, missing) => {
      const { interestRate, ...rest } = worksheet;
      const terms = 'interestRate' in missing ? rest : { ...rest, interestRate, ...missing };
      const rendered = render(recorded({ decision: DecisionValue.APPROVED }, { terms }));
      expect(rendered?.mismatch).toEqual(expect.stringContaining('payload_unfit'));
      expect(rendered?.mismatch).toEqual(expect.stringContaining(field));
    },
  );

  test('a date that no calendar has does not match the schema', () => {
    const terms = { ...worksheet, firstPaymentDate: '2026-02-30' };
    const rendered = render(recorded({ decision: DecisionValue.APPROVED }, { terms }));
    expect(rendered?.mismatch).toEqual(expect.stringContaining('payload_unfit'));
  });

  test('the same decision is rendered to the same bytes every time', () => {
    const event = recorded({ decision: DecisionValue.APPROVED, conditions: 'é\u0000"\\' });
    expect(render(event)).toEqual(render(event));
  });

  test.each(['applicationId', 'creditorId', 'retailerId'])(
    'a %s that is no UUID makes the event unreadable',
    (name) => {
      const event = recorded({ decision: DecisionValue.BOOKED }, { [name]: 'A-17' });
      expect(() => render(event)).toThrow(UnreadableEventError);
    },
  );

  test('an unknown decision value makes the event unreadable', () => {
    expect(() => render(recorded({ decision: 99 as DecisionValue }))).toThrow(UnreadableEventError);
    expect(() => render(recorded(undefined))).toThrow(UnreadableEventError);
  });
});
