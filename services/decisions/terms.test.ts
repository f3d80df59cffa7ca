import { create } from '@bufbuild/protobuf';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { expect, test } from 'vitest';
import { termsJson, termsOf } from './terms.ts';

const decision = DecisionValue.APPROVED;

test('the terms of a decision are the terms that it sets', () => {
  const approved = create(DecisionSchema, {
    decision,
    firstPaymentDate: '2026-03-01',
    paymentFrequency: PaymentFrequency.WEEKLY,
    interestRate: 0,
    term: 60,
    paymentAmount: 400,
  });
  expect(termsOf(approved)).toEqual({
    firstPaymentDate: '2026-03-01',
    frequency: 'PAYMENT_FREQUENCY_WEEKLY',
    interestRate: 0,
    term: 60,
  });
});

test('terms that a decision does not set, and terms of a missing worksheet, are absent', () => {
  expect(termsOf(create(DecisionSchema, { decision }))).toEqual({});
  expect(termsJson(undefined)).toEqual({});
});
