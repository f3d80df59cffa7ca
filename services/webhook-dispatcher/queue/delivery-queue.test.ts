import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Backlog } from './backlog.ts';
import type { LeasedDelivery } from './delivery.ts';
import { DeliveryQueue, type RequestResult } from './delivery-queue.ts';
import type { QueueEntry } from './destination-queue.ts';
import { OpenBreakers } from './open-breakers.ts';
import { DestinationRates } from './rates/destination-rates.ts';
import { SLOW_MS } from './send-slots.ts';

let nowMs: number;
let released: string[];
let queue: DeliveryQueue;
let breakers: OpenBreakers;
let rates: DestinationRates;
let backlog: Backlog;
beforeEach(() => {
  nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  released = [];
  breakers = new OpenBreakers();
  rates = new DestinationRates();
  backlog = new Backlog();
  queue = new DeliveryQueue({
    breakers,
    rates,
    backlog,
    leaseMs: 60_000,
    maxInFlight: 4,
    maxInFlightPerDestination: 4,
    onRefused: (deliveries) => void released.push(...deliveries.map(({ id }) => id)),
  });
});
afterEach(() => vi.restoreAllMocks());

const FAILED: RequestResult = { verdict: 'failed', revision: 1, durationMs: 5 };
const FAILED_SLOWLY = { ...FAILED, durationMs: SLOW_MS };
const OPEN = {
  destinationId: 'failing',
  revision: 1,
  isDue: true,
  isProbed: false,
  isPaused: false,
  isUntried: false,
};
const SUCCEEDED: RequestResult = { ...FAILED, verdict: 'accepted' };
const REFUSED: RequestResult = { ...FAILED, verdict: 'refused' };

const add = (destinationId: string, ...ids: string[]) =>
  queue.add(
    ids.map((id) => ({ id, destinationId, replays: 0 }) as LeasedDelivery),
    nowMs,
  );

function takeAll(): QueueEntry[] {
  const taken: QueueEntry[] = [];
  for (let entry = queue.takeReady(nowMs); entry; entry = queue.takeReady(nowMs)) taken.push(entry);
  return taken;
}

const idsOf = (entries: readonly QueueEntry[]) => entries.map(({ delivery }) => delivery.id);

/** Ends the request of the one delivery that is ready, and its record. */
function finishOne(result: RequestResult | undefined): void {
  const [entry] = takeAll();
  if (entry === undefined) throw new Error('no delivery is ready');
  queue.finishRequest(entry, result);
  queue.remove(entry, result?.verdict === 'accepted');
}

/** How many deliveries an intake may lease for the destination. */
function capacityOf(destinationId: string): number {
  const takeCapacity = queue.intakeCapacity();
  let taken = 0;
  while (taken < 100 && takeCapacity(destinationId)) taken += 1;
  return taken;
}

describe('the delivery queue', () => {
  test('forgets a destination whose waiting deliveries are dropped, or have lost their leases', () => {
    const named = () => [...queue.claimCapacity().byDestination.keys()];
    add('disabled', 'first');
    expect(named()).toEqual(['disabled']);
    queue.drop(['disabled']);
    expect(named()).toEqual([]);
    add('suspended', 'second');
    nowMs = 60_000;
    expect(takeAll()).toEqual([]);
    expect(named()).toEqual([]);
  });

  test('keeps what waits for a destination beside deliveries that have ended, and what is under way', () => {
    add('enabled', 'under way', 'under way, too', 'ended', 'leased later');
    const [taken] = takeAll();
    queue.dropEnded('enabled', new Set(['under way', 'ended', 'in no queue']));
    expect(queue.size).toBe(3);
    if (taken) queue.finishRequest(taken, SUCCEEDED);
    expect(idsOf(takeAll())).toEqual(['leased later']);
  });

  test('ends the wait of whoever waits while it is empty with the first delivery, or when told to stop', async () => {
    const stop = new AbortController();
    let ended = 0;
    const wait = () =>
      queue.waitWhileEmpty(stop.signal).then(() => {
        ended += 1;
      });
    const waits = [wait(), wait()];
    await Promise.resolve();
    expect(ended).toBe(0);
    add('first', 'delivery');
    await Promise.all([...waits, wait()]);
    finishOne(SUCCEEDED);
    const last = wait();
    stop.abort();
    await last;
    expect(ended).toBe(4);
  });

  test('when a request becomes slow, gives back what waits for its destination', () => {
    add('hanging', 'first', 'second', 'third');
    expect(idsOf(takeAll())).toEqual(['first', 'second']);
    nowMs = SLOW_MS;
    queue.queueTurns();
    expect(released).toEqual(['third']);
    expect([capacityOf('hanging'), capacityOf('other')]).toEqual([0, 3]);
  });

  test('when a request fails at once after the platform took long to prepare it, opens no circuit breaker', () => {
    add('first', 'delivery');
    const [entry] = takeAll();
    nowMs = SLOW_MS;
    if (entry) queue.finishRequest(entry, FAILED);
    expect(breakers.has('first')).toBe(false);
  });

  test('when a slow request fails, opens the circuit breaker, and takes in nothing but a probe', () => {
    add('hanging', 'first');
    nowMs = SLOW_MS;
    const [first] = takeAll();
    nowMs += SLOW_MS;
    if (first) queue.finishRequest(first, FAILED_SLOWLY);
    expect(breakers.has('hanging')).toBe(true);
    expect(capacityOf('hanging')).toBe(0);
    breakers.addProbe('hanging', 'probe');
    add('hanging', 'second', 'probe');
    expect(released).toEqual(['second']);
    queue.queueTurns();
    expect(idsOf(takeAll())).toEqual(['probe']);
  });

  test('when a circuit breaker opens, gives back what waits for a destination that was suspect before', () => {
    add('hanging', 'first');
    const [first] = takeAll();
    nowMs = SLOW_MS;
    queue.queueTurns();
    add('hanging', 'second', 'third');
    expect(idsOf(takeAll())).toEqual(['second']);
    if (first) queue.finishRequest(first, FAILED_SLOWLY);
    expect(released).toEqual(['third']);
    expect(takeAll()).toEqual([]);
  });

  test('when requests are refused, opens no circuit breaker, and keeps its limit', () => {
    const limit = queue.requestLimit('refusing');
    for (let n = 0; n < 20; n += 1) {
      add('refusing', `refused ${n}`);
      finishOne(REFUSED);
    }
    expect(breakers.has('refusing')).toBe(false);
    expect(queue.requestLimit('refusing')).toBe(limit);
  });

  test.each([
    ['accepted', SUCCEEDED],
    ['refused', REFUSED],
  ])('when the probe is %s, closes the circuit breaker', (_verdict, result) => {
    breakers.open('failing', 1);
    breakers.addProbe('failing', 'probe');
    add('failing', 'probe');
    finishOne(result);
    expect(breakers.has('failing')).toBe(false);
    expect(breakers.takeChanges()).toEqual(new Map([['failing', { kind: 'closed' }]]));
  });

  test('when a request fails that is no probe, leaves the open circuit breaker as it is', () => {
    add('failing', 'before');
    const [before] = takeAll();
    breakers.open('failing', 1);
    breakers.takeChanges();
    breakers.addProbe('failing', 'probe');
    if (before) queue.finishRequest(before, FAILED);
    expect(breakers.takeChanges()).toEqual(new Map());
    add('failing', 'probe');
    finishOne(FAILED);
    const change = { kind: 'probe_failed', probeId: 'probe' };
    expect(breakers.takeChanges()).toEqual(new Map([['failing', change]]));
  });

  const PROBE_UNSENT = new Map([['failing', { kind: 'probe_unsent', probeId: 'probe' }]]);

  test.each<[string, () => void]>([
    ['ends without a request', () => finishOne(undefined)],
    ['is dropped', () => queue.drop(['failing'])],
    ['has no lease any more', () => queue.takeReady(60_000)],
    ['waits when the process ends', () => queue.close()],
  ])('when a probe %s, lets another one be sent', (_, end) => {
    queue.shareBreakers([OPEN]);
    breakers.addProbe('failing', 'probe');
    add('failing', 'probe');
    end();
    expect(breakers.takeChanges()).toEqual(PROBE_UNSENT);
    expect(breakers.isProbe('failing', 'probe')).toBe(false);
  });

  test('when a probe is claimed while the process ends, lets another one be sent', () => {
    queue.shareBreakers([OPEN]);
    queue.close();
    breakers.addProbe('failing', 'probe');
    add('failing', 'probe');
    expect(breakers.takeChanges()).toEqual(PROBE_UNSENT);
  });

  test('keeps the request for a probe beside the failure of the probe under way', () => {
    queue.shareBreakers([OPEN]);
    breakers.addProbe('failing', 'probe');
    add('failing', 'probe');
    breakers.requestProbe({ destinationId: 'failing', revision: 2 });
    finishOne(FAILED);
    breakers.requestProbe({ destinationId: 'failing', revision: 3 });
    const [changes, requested] = [breakers.takeChanges(), breakers.takeRequested()];
    breakers.restore(changes, requested);
    const change = { kind: 'probe_failed', probeId: 'probe' };
    expect(breakers.takeChanges()).toEqual(new Map([['failing', change]]));
    expect(breakers.takeRequested()).toEqual(new Map([['failing', 3]]));
  });

  test('names to a claim the destinations that have deliveries here or a backlog, of thousands', () => {
    for (const n of Array(1_000).keys()) {
      add(`d${n}`, `d${n}`);
      finishOne(SUCCEEDED);
    }
    add('d7', 'waiting');
    backlog.add(['d8', 'd9']);
    breakers.open('d9', 1);
    const { byDestination, otherDestinations } = queue.claimCapacity();
    expect([...byDestination]).toEqual([
      ['d7', 11],
      ['d8', 12],
    ]);
    expect(otherDestinations).toBe(3);
  });

  test('tries destinations at once that were set anew since their circuit breakers have opened', () => {
    breakers.open('old', 1);
    breakers.open('new', 1);
    breakers.takeChanges();
    const recipients = ['old', 'new', 'other'].map((destinationId) => ({
      destinationId,
      revision: destinationId === 'old' ? 1 : 2,
    }));
    breakers.requestProbesOfNew(recipients);
    expect(breakers.takeRequested()).toEqual(new Map([['new', 2]]));
    breakers.requestProbesOfNew(recipients);
    expect(breakers.takeRequested()).toEqual(new Map());
  });
});

describe('a destination with a rate limit', () => {
  const addPermitted = (...ids: string[]) =>
    queue.add(
      ids.map((id) => ({ id, destinationId: 'limited', replays: 0 }) as LeasedDelivery),
      nowMs,
      nowMs + 300,
    );
  /** Of the queue, and of the destination. */
  const limitedCapacity = () => {
    const { total, byDestination, otherDestinations } = queue.limitedCapacity();
    return [total, byDestination.get('limited') ?? otherDestinations];
  };
  beforeEach(() => {
    queue.shareRates([{ destinationId: 'limited', revision: 1, perSecond: 20 }]);
  });

  test('gets deliveries with permits alone, and the others are given back', () => {
    add('limited', 'promoted');
    add('other', 'unlimited');
    addPermitted('permitted');
    expect(released).toEqual(['promoted']);
    expect(idsOf(takeAll()).sort()).toEqual(['permitted', 'unlimited']);
  });

  test('gets its probe without one', () => {
    queue.shareBreakers([{ ...OPEN, destinationId: 'limited' }]);
    breakers.addProbe('limited', 'probe');
    add('limited', 'probe');
    expect(idsOf(takeAll())).toEqual(['probe']);
  });

  test('has no capacity for an intake and for the claims of others, also with deliveries and a backlog', () => {
    addPermitted('permitted');
    backlog.add(['limited', 'other']);
    expect(queue.intakeCapacity()('limited')).toBe(false);
    expect([...queue.claimCapacity().byDestination.keys()]).toEqual(['other']);
    queue.shareRates([]);
    expect(queue.intakeCapacity()('limited')).toBe(true);
  });

  test('has the capacity for what can be sent at once, and a claim follows when more becomes free', () => {
    const capacity = () => limitedCapacity()[1];
    expect(capacity()).toBe(2);
    addPermitted('first', 'second');
    expect(capacity()).toBe(0);
    const [first] = takeAll();
    expect(capacity()).toBe(0);
    rates.takeClaimable(nowMs);
    rates.awaitCapacity('limited');
    queue.finishRequest(first as QueueEntry, SUCCEEDED);
    expect(capacity()).toBe(2);
    expect(rates.takeClaimable(nowMs)).toEqual(['limited']);
  });

  test('may have one delivery that waits for its turn while another takes all slots and fills the queue', () => {
    for (const id of ['first', 'second']) {
      add('other', id);
      finishOne(SUCCEEDED);
    }
    add('other', ...Array.from({ length: 18 }, (_, n) => `delivery ${n}`));
    const sent = takeAll();
    expect(sent).toHaveLength(4);
    expect(queue.claimCapacity().total).toBe(0);
    expect(limitedCapacity()).toEqual([1, 1]);
    addPermitted('permitted');
    expect(limitedCapacity()).toEqual([0, 0]);
    for (const entry of sent.slice(0, 2)) queue.finishRequest(entry, SUCCEEDED);
    expect(idsOf(takeAll())).toContain('permitted');
  });

  test('has a claim made when something is due, and the others when the limit is removed', () => {
    rates.takeClaimable(nowMs);
    backlog.add(['limited']);
    expect(rates.takeClaimable(nowMs)).toEqual(['limited']);
    backlog.update([], { total: 1, byDestination: new Map(), otherDestinations: 1 }, false);
    queue.shareRates([]);
    expect(backlog.mayInclude('limited')).toBe(true);
  });
});
