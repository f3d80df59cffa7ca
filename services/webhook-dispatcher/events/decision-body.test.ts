import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import {
  type DecisionRecorded,
  DecisionRecordedSchema,
} from '@creditlane/proto/decisions/v1/decisions_events';
import { describe, expect, it } from 'vitest';
import { render, UnreadableEvent } from './decision-body.ts';

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

function bodyOf(event: ReturnType<typeof recorded>): Record<string, unknown> {
  const rendering = render(event);
  if (rendering.kind !== 'sendable') throw new Error(`expected a body, got ${rendering.kind}`);
  return JSON.parse(rendering.body);
}

describe('rendering a decision', () => {
  it.each([
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
  ])('tells of decision %i as %s', (decision, event, status) => {
    const rendering = render(recorded({ decision }));
    expect(rendering).toMatchObject({ kind: 'sendable', event });
    expect(bodyOf(recorded({ decision }))).toMatchObject({ ...ids, status });
  });

  it.each([DecisionValue.WITHDRAWN, DecisionValue.DRAFT])(
    'tells nobody of decision %i',
    (decision) => {
      expect(render(recorded({ decision }))).toEqual({ kind: 'silent' });
    },
  );

  it('leaves the terms out of events that have none', () => {
    const body = bodyOf(
      recorded({ decision: DecisionValue.BOOKED, conditions: 'none', paymentAmount: 1 }),
    );
    expect(body).toEqual({ ...ids, status: 'BOOKED', conditions: 'none' });
  });

  it('gives the terms in force, and no difference where there is none', () => {
    expect(bodyOf(recorded({ decision: DecisionValue.APPROVED }))).toEqual({
      ...ids,
      status: 'APPROVED',
      firstPaymentDate: '2026-04-01',
      frequency: 'BI-WEEKLY',
      interestRate: 6.99,
    });
  });

  it('gives payments in Canadian dollars, and the differences from the worksheet in decimals', () => {
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

  it.each([
    [PaymentFrequency.WEEKLY, 'WEEKLY'],
    [PaymentFrequency.BI_WEEKLY, 'BI-WEEKLY'],
    [PaymentFrequency.SEMI_MONTHLY, 'SEMI-MONTHLY'],
    [PaymentFrequency.MONTHLY, 'MONTHLY'],
  ])('writes frequency %i as %s', (frequency, word) => {
    const event = recorded(
      { decision: DecisionValue.APPROVED },
      { terms: { ...worksheet, frequency } },
    );
    expect(bodyOf(event).frequency).toBe(word);
  });

  it.each([
    ['firstPaymentDate', { firstPaymentDate: '' }],
    ['frequency', { frequency: PaymentFrequency.UNSPECIFIED }],
    ['interestRate', { interestRate: undefined }],
  ])('parks an approval without %s and says so', (field, missing) => {
    const { interestRate, ...rest } = worksheet;
    const terms = 'interestRate' in missing ? rest : { ...rest, interestRate, ...missing };
    const rendering = render(recorded({ decision: DecisionValue.APPROVED }, { terms }));
    expect(rendering).toMatchObject({ kind: 'unfit', reason: expect.stringContaining(field) });
  });

  it('parks a date that is in no calendar', () => {
    const terms = { ...worksheet, firstPaymentDate: '2026-02-30' };
    expect(render(recorded({ decision: DecisionValue.APPROVED }, { terms })).kind).toBe('unfit');
  });

  it('gives the same bytes every time', () => {
    const event = recorded({ decision: DecisionValue.APPROVED, conditions: 'é\u0000"\\' });
    expect(render(event)).toEqual(render(event));
  });

  it('cannot read a decision value it does not know', () => {
    expect(() => render(recorded({ decision: 99 as DecisionValue }))).toThrow(UnreadableEvent);
    expect(() => render(recorded(undefined))).toThrow(UnreadableEvent);
  });
});
