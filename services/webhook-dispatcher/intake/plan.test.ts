import { describe, expect, it } from 'vitest';
import {
  type Incoming,
  type Known,
  laneKey,
  numberKey,
  planDeliveries,
  submissionKey,
} from './plan.ts';

const nothing: Known = {
  seen: new Map(),
  numbered: new Map(),
  busy: new Set(),
  disabled: new Map(),
};
let ids = 0;
const newId = () => `id-${++ids}`;

const told = (...destinationIds: string[]) =>
  destinationIds.map((destinationId) => ({ destinationId, revision: 1 }));

function incoming(sequence: number, init: Partial<Incoming> = {}): Incoming {
  return {
    eventId: `event-${sequence}`,
    applicationId: 'app',
    creditorId: 'creditor',
    sequence,
    recordedAt: new Date(0),
    rendering: { kind: 'sendable', event: 'applicationBooked', body: '{}' },
    recipients: told('dest'),
    ...init,
  };
}

const outline = (batch: Incoming[], known: Partial<Known> = {}) =>
  planDeliveries(batch, { ...nothing, ...known }, newId).deliveries.map(
    ({ incoming: { eventId }, destinationId, sequence, state, reason }) => [
      eventId,
      destinationId,
      sequence,
      state,
      reason,
    ],
  );

describe('planning the deliveries of a batch', () => {
  it('lets the first of a lane go and the others wait, numbered 1, 2, 3', () => {
    expect(outline([incoming(1), incoming(2), incoming(3)])).toEqual([
      ['event-1', 'dest', 1, 'due', null],
      ['event-2', 'dest', 2, 'waiting', null],
      ['event-3', 'dest', 3, 'waiting', null],
    ]);
  });

  it('goes on where the database left off', () => {
    const known = {
      seen: new Map([[submissionKey('app', 'creditor'), 4]]),
      numbered: new Map([[numberKey('app', 'creditor', 'dest'), 3]]),
      busy: new Set([laneKey('app', 'dest')]),
    };
    expect(outline([incoming(4), incoming(5)], known)).toEqual([
      ['event-5', 'dest', 4, 'waiting', null],
    ]);
  });

  it('drops a decision that it has seen, also within the batch', () => {
    expect(outline([incoming(2), incoming(1), incoming(2)])).toEqual([
      ['event-2', 'dest', 1, 'due', null],
    ]);
  });

  it('makes lanes by application and destination, and numbers by creditor as well', () => {
    expect(
      outline([
        incoming(1, { recipients: told('a', 'b') }),
        incoming(1, { eventId: 'other creditor', creditorId: 'c2', recipients: told('a') }),
        incoming(1, { eventId: 'other application', applicationId: 'app2', recipients: told('a') }),
      ]),
    ).toEqual([
      ['event-1', 'a', 1, 'due', null],
      ['event-1', 'b', 1, 'due', null],
      ['other creditor', 'a', 1, 'waiting', null],
      ['other application', 'a', 1, 'due', null],
    ]);
  });

  it('gives no number to what will not be sent, and lets it hold nothing back', () => {
    const unfit = {
      kind: 'unfit',
      event: 'applicationApproved',
      body: '{}',
      reason: 'payload_unfit: x',
    } as const;
    expect(outline([incoming(1, { rendering: unfit }), incoming(2)])).toEqual([
      ['event-1', 'dest', null, 'dead', 'payload_unfit: x'],
      ['event-2', 'dest', 1, 'due', null],
    ]);
  });

  it('refuses a destination that is disabled, until it is set anew', () => {
    const disabled = new Map([['dest', 3]]);
    const at = (revision: number) => ({ recipients: [{ destinationId: 'dest', revision }] });
    expect(outline([incoming(1, at(3))], { disabled })).toEqual([
      ['event-1', 'dest', null, 'dead', 'destination_disabled'],
    ]);
    const plan = planDeliveries([incoming(1, at(4))], { ...nothing, disabled }, newId);
    expect(plan.deliveries).toMatchObject([{ state: 'due', sequence: 1 }]);
    expect(plan.enabled).toEqual(new Map([['dest', 4]]));
  });

  it('remembers a silent decision, and keeps no body for it', () => {
    const plan = planDeliveries([incoming(7, { rendering: { kind: 'silent' } })], nothing, newId);
    expect(plan.seen).toEqual(new Map([[submissionKey('app', 'creditor'), 7]]));
    expect([plan.messages, plan.deliveries]).toEqual([[], []]);
  });
});
