import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { Fault } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { checkWritable } from './decision.ts';

/** The pointers of the fields refused; none when the decision may be recorded. */
function refused(given: MessageInitShape<typeof DecisionSchema>): string[] {
  try {
    checkWritable(create(DecisionSchema, { decision: DecisionValue.APPROVED, ...given }));
    return [];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    expect(error).toMatchObject({ kind: 'invalid', code: 'invalid_decision' });
    return error.fields.map(({ pointer }) => pointer);
  }
}

describe('a decision to be recorded', () => {
  test.each([
    DecisionValue.BOOKED,
    DecisionValue.DOCUMENTS_INCOMPLETE,
    DecisionValue.APPROVED,
    DecisionValue.CONDITIONALLY_APPROVED,
    DecisionValue.WITHDRAWN,
    DecisionValue.DECLINED,
    DecisionValue.INCOMPLETE,
    DecisionValue.PENDING_BANK_CONNECTION,
  ])('may have the value %#', (decision) => {
    expect(refused({ decision })).toEqual([]);
  });

  test.each([DecisionValue.AWAITING_DECISION, DecisionValue.DRAFT])(
    'may not have a value that only the platform gives (%#)',
    (decision) => {
      expect(refused({ decision })).toEqual(['/decision']);
    },
  );

  test.each(['2026-02-30', '2026-13-01', '0000-01-01', '20260101ab', '2026-1-001'])(
    'may not be dated %s',
    (date) => {
      expect(refused({ firstPaymentDate: date, deliveryDate: date })).toEqual([
        '/firstPaymentDate',
        '/deliveryDate',
      ]);
    },
  );

  test('may be dated on a leap day', () => {
    expect(refused({ firstPaymentDate: '2028-02-29' })).toEqual([]);
  });

  test('may have conditions of several lines, but no character that cannot be stored', () => {
    expect(refused({ conditions: 'Proof of income\n\tTwo pay stubs' })).toEqual([]);
    expect(refused({ conditions: 'a\0b', program: 'a\0b', tier: 'a\nb' })).toEqual([
      '/program',
      '/tier',
      '/conditions',
    ]);
  });

  test('is refused with every fault at once', () => {
    const given = { decision: DecisionValue.DRAFT, deliveryDate: '2026-02-30' };
    expect(refused(given)).toEqual(['/decision', '/deliveryDate']);
  });
});
