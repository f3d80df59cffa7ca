import { create } from '@bufbuild/protobuf';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { expect, test } from 'vitest';
import { givenTerms, termsJson } from './terms.ts';

const decision = DecisionValue.APPROVED;

test('the terms of a decision are those it gives', () => {
  const given = create(DecisionSchema, {
    decision,
    firstPaymentDate: '2026-03-01',
    paymentFrequency: PaymentFrequency.WEEKLY,
    interestRate: 0,
    term: 60,
    paymentAmount: 400,
  });
  expect(givenTerms(given)).toEqual({
    firstPaymentDate: '2026-03-01',
    frequency: 'PAYMENT_FREQUENCY_WEEKLY',
    interestRate: 0,
    term: 60,
  });
});

test('terms that are not given or not known are left out', () => {
  expect(givenTerms(create(DecisionSchema, { decision }))).toEqual({});
  expect(termsJson(undefined)).toEqual({});
});
