import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changeEnablement, type Enablement, type EnablementStatusName } from './enablement.ts';

const STATUSES: readonly EnablementStatusName[] = [
  'REQUESTED',
  'WAITING_FOR_SECOND_ACTIVATION_STEP',
  'FAILED_TO_ENABLE',
  'ENABLED',
  'DISABLED',
];
const NEW: Enablement = { status: undefined, reason: undefined, setAt: undefined };
const at = new Date('2026-03-02T15:04:05.678Z');

describe('a change of the enablement', () => {
  test.each([undefined, ...STATUSES])('from %s to ENABLED needs REQUESTED', (status) => {
    const enable = () => changeEnablement({ status }, { status: 'ENABLED' }, at);
    if (status === 'REQUESTED') {
      expect(enable()).toEqual({ status: 'ENABLED', reason: undefined, setAt: at });
    } else {
      expect(enable).toThrow(status ?? 'no status was set');
      expect(enable).toThrow(
        expect.objectContaining({ kind: 'conflict', code: 'integration_not_requested' }),
      );
    }
  });

  test.each([undefined, ...STATUSES])('from %s to any other status is accepted', (current) => {
    for (const status of STATUSES.filter((it) => it !== 'ENABLED')) {
      const changed = changeEnablement({ status: current }, { status }, at);
      expect(changed).toEqual({ status, reason: undefined, setAt: at });
    }
  });
});

test('in every sequence of changes, ENABLED follows REQUESTED alone, and only DISABLED has a reason', () => {
  const change = fc.record(
    { status: fc.constantFrom(...STATUSES), reason: fc.string() },
    { requiredKeys: ['status'] },
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      let current = NEW;
      for (const [index, wanted] of changes.entries()) {
        const before = current;
        const setAt = new Date(index);
        try {
          current = changeEnablement(before, wanted, setAt);
        } catch {
          expect(wanted.status).toBe('ENABLED');
          expect(before.status).not.toBe('REQUESTED');
          continue;
        }
        expect(current.status).toBe(wanted.status);
        expect(current.setAt).toBe(setAt);
        expect(current.reason).toBe(wanted.status === 'DISABLED' ? wanted.reason : undefined);
        if (current.status === 'ENABLED') expect(before.status).toBe('REQUESTED');
      }
    }),
    { numRuns: 5_000 },
  );
});
