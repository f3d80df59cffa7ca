import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { Fault } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { checkDecision } from './decision.ts';

/** The pointers of the refused fields; none when the decision may be recorded. */
function refusedFields(change: MessageInitShape<typeof DecisionSchema>): string[] {
  try {
    checkDecision(create(DecisionSchema, { decision: DecisionValue.APPROVED, ...change }));
    return [];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    expect(error).toMatchObject({ kind: 'invalid', code: 'invalid_decision' });
    return error.fields.map(({ pointer }) => pointer);
  }
}

describe('a decision', () => {
  test.each([
    'BOOKED',
    'DOCUMENTS_INCOMPLETE',
    'APPROVED',
    'CONDITIONALLY_APPROVED',
    'WITHDRAWN',
    'DECLINED',
    'INCOMPLETE',
    'PENDING_BANK_CONNECTION',
  ] as const)('with the value %s is accepted', (name) => {
    expect(refusedFields({ decision: DecisionValue[name] })).toEqual([]);
  });

  test.each(['AWAITING_DECISION', 'DRAFT'] as const)(
    'with the value %s, which only the platform sets, is refused',
    (name) => {
      expect(refusedFields({ decision: DecisionValue[name] })).toEqual(['/decision/decision']);
    },
  );

  test.each([
    ...['2026-02-30', '2026-13-01', '0000-01-01', '20260101ab', '2026-1-001'],
    ...['1999-12-31', '2101-01-01'],
  ])('dated %s is refused', (date) => {
    expect(refusedFields({ firstPaymentDate: date, deliveryDate: date })).toEqual([
      '/decision/firstPaymentDate',
      '/decision/deliveryDate',
    ]);
  });

  test('dated on a leap day is accepted', () => {
    expect(refusedFields({ firstPaymentDate: '2028-02-29' })).toEqual([]);
  });

  test.each([
    { interestRate: 0, term: 1 },
    { interestRate: 100, term: 600 },
  ])('with the terms %j is accepted', (terms) => {
    expect(refusedFields(terms)).toEqual([]);
  });

  test.each([
    { interestRate: -0.01, term: 0 },
    { interestRate: 100.01, term: 601 },
  ])('with the terms %j is refused', (terms) => {
    expect(refusedFields(terms)).toEqual(['/decision/interestRate', '/decision/term']);
  });

  test('with conditions of several lines is accepted, and with a NUL is refused', () => {
    expect(refusedFields({ conditions: 'Proof of income\n\tTwo pay stubs' })).toEqual([]);
    expect(refusedFields({ conditions: 'a\0b', program: 'a\0b', tier: 'a\nb' })).toEqual([
      '/decision/program',
      '/decision/tier',
      '/decision/conditions',
    ]);
  });

  test('with several faults is refused with all of them', () => {
    const change = { decision: DecisionValue.DRAFT, deliveryDate: '2026-02-30' };
    expect(refusedFields(change)).toEqual(['/decision/decision', '/decision/deliveryDate']);
  });
});
