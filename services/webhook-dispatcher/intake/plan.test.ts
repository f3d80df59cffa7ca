import { describe, expect, test } from 'vitest';
import { laneKey } from '../queue/delivery.ts';
import {
  type Content,
  counterKey,
  type NewEvent,
  NOTHING_STORED,
  planDeliveries,
  type StoredState,
  seriesKey,
} from './plan.ts';

const SERIES = { orderingKey: 'application', numberingKey: 'creditor' };

let ids = 0;
const newId = () => `id-${++ids}`;

const recipientsAt = (...destinationIds: string[]) =>
  destinationIds.map((destinationId) => ({ destinationId, revision: 1 }));

interface EventOptions {
  eventId?: string;
  orderingKey?: string;
  numberingKey?: string;
  content?: Content;
  recipients?: { destinationId: string; revision: number }[];
  hasWebhook?: boolean;
  hasSeriesPosition?: boolean;
}

function newEvent(sequence: number, options: EventOptions = {}): NewEvent {
  const { orderingKey, numberingKey } = { ...SERIES, ...options };
  const { hasWebhook = true, hasSeriesPosition = true } = options;
  return {
    eventId: options.eventId ?? `event-${sequence}`,
    recordedAt: new Date(0),
    traceparent: undefined,
    seriesPosition: hasSeriesPosition ? { orderingKey, numberingKey, sequence } : undefined,
    webhook: hasWebhook
      ? {
          event: 'applicationBooked',
          orderingKey,
          numberingKey,
          content: options.content ?? { kind: 'body', body: '{}' },
          recipients: options.recipients ?? recipientsAt('dest'),
        }
      : undefined,
  };
}

const outline = (batch: NewEvent[], stored: Partial<StoredState> = {}) =>
  planDeliveries(batch, { ...NOTHING_STORED, ...stored }, newId).deliveries.map(
    ({ message: { eventId }, destinationId, sequence, state, reason }) => [
      eventId,
      destinationId,
      sequence,
      state,
      reason,
    ],
  );

describe('planning the deliveries of a batch', () => {
  test('in an empty lane the first delivery is due and the others wait, numbered 1, 2, 3', () => {
    expect(outline([newEvent(1), newEvent(2), newEvent(3)])).toEqual([
      ['event-1', 'dest', 1, 'due', null],
      ['event-2', 'dest', 2, 'waiting', null],
      ['event-3', 'dest', 3, 'waiting', null],
    ]);
  });

  test('with stored state, high-water marks, numbers and lanes continue from the stored ones', () => {
    const stored = {
      highWaterMarks: new Map([[seriesKey(SERIES), 4]]),
      lastSequences: new Map([[counterKey(SERIES, 'dest'), 3]]),
      busyLanes: new Set([laneKey({ orderingKey: 'application', destinationId: 'dest' })]),
    };
    expect(outline([newEvent(4), newEvent(5)], stored)).toEqual([
      ['event-5', 'dest', 4, 'waiting', null],
    ]);
  });

  test('an event at or below the high-water mark is dropped, also within the batch', () => {
    expect(outline([newEvent(2), newEvent(1), newEvent(2)])).toEqual([
      ['event-2', 'dest', 1, 'due', null],
    ]);
  });

  test('the plan names the events that it drops', () => {
    const plan = planDeliveries([newEvent(2), newEvent(1)], NOTHING_STORED, newId);
    expect(plan.staleEventIds).toEqual(['event-1']);
  });

  test('an event without a position in a series is never dropped', () => {
    const repeated = () => newEvent(1, { hasSeriesPosition: false });
    expect(outline([repeated(), repeated()])).toEqual([
      ['event-1', 'dest', 1, 'due', null],
      ['event-1', 'dest', 2, 'waiting', null],
    ]);
  });

  test('lanes are by ordering key and destination, and numbers by numbering key as well', () => {
    expect(
      outline([
        newEvent(1, { recipients: recipientsAt('a', 'b') }),
        newEvent(1, {
          eventId: 'other creditor',
          numberingKey: 'creditor-2',
          recipients: recipientsAt('a'),
        }),
        newEvent(1, {
          eventId: 'other application',
          orderingKey: 'application-2',
          recipients: recipientsAt('a'),
        }),
      ]),
    ).toEqual([
      ['event-1', 'a', 1, 'due', null],
      ['event-1', 'b', 1, 'due', null],
      ['other creditor', 'a', 1, 'waiting', null],
      ['other application', 'a', 1, 'due', null],
    ]);
  });

  test('a delivery that will not be sent has no number and does not hold its lane', () => {
    const content: Content = { kind: 'unsendable', body: '{}', reason: 'payload_unfit: x' };
    expect(outline([newEvent(1, { content }), newEvent(2)])).toEqual([
      ['event-1', 'dest', null, 'dead', 'payload_unfit: x'],
      ['event-2', 'dest', 1, 'due', null],
    ]);
  });

  test('deliveries to a disabled destination are numbered and dead until the destination is set anew', () => {
    const disabledRevisions = new Map([['dest', 3]]);
    const at = (revision: number) => ({ recipients: [{ destinationId: 'dest', revision }] });
    expect(outline([newEvent(1, at(3))], { disabledRevisions })).toEqual([
      ['event-1', 'dest', 1, 'dead', 'destination_disabled'],
    ]);
    const stored = { ...NOTHING_STORED, disabledRevisions };
    const plan = planDeliveries([newEvent(1, at(4))], stored, newId);
    expect(plan.deliveries).toMatchObject([{ state: 'due', sequence: 1 }]);
    expect(plan.enabledRevisions).toEqual(new Map([['dest', 4]]));
  });

  test('an event without a webhook moves the high-water mark and stores no message', () => {
    const plan = planDeliveries([newEvent(7, { hasWebhook: false })], NOTHING_STORED, newId);
    expect(plan.highWaterMarks).toEqual(new Map([[seriesKey(SERIES), 7]]));
    expect([plan.messages, plan.deliveries]).toEqual([[], []]);
  });
});
