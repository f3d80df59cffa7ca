import { expect, it } from 'vitest';
import { KnownDisabled } from './known-disabled.ts';
import { type NewEvent, NOTHING_STORED } from './plan.ts';

/** An event with these recipients. */
function eventTo(destinationIds: readonly string[], revision = 1): NewEvent {
  return {
    eventId: 'event',
    recordedAt: new Date(0),
    traceparent: undefined,
    seriesPosition: undefined,
    webhook: {
      event: 'applicationBooked',
      orderingKey: 'application',
      numberingKey: 'creditor',
      content: { kind: 'body', body: '{}' },
      recipients: destinationIds.map((destinationId) => ({ destinationId, revision })),
    },
  };
}

const DISABLED = { ...NOTHING_STORED, disabledRevisions: new Map([['disabled', 1]]) };

it('after a destination was found disabled, only events to it are known not to apply at once', () => {
  const known = new KnownDisabled();
  expect(known.includesRecipientOf([eventTo(['disabled'])])).toBe(false);
  known.update([eventTo(['disabled', 'other'])], DISABLED);
  expect(known.includesRecipientOf([eventTo(['other']), eventTo(['disabled'])])).toBe(true);
  expect(known.includesRecipientOf([eventTo(['other'])])).toBe(false);
});

it('a destination that was set anew is no longer known to be disabled', () => {
  const known = new KnownDisabled();
  known.update([eventTo(['disabled'])], DISABLED);
  known.update([eventTo(['disabled'], 2)], DISABLED);
  expect(known.includesRecipientOf([eventTo(['disabled'], 2)])).toBe(false);
});
