import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { silentLog } from '@creditlane/runtime/test-log';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDispatcherDatabase } from '../../test-deliveries.ts';
import { Backlog } from '../backlog.ts';
import { DeliveryQueue } from '../delivery-queue.ts';
import { OpenBreakers } from '../open-breakers.ts';
import { DestinationRates } from './destination-rates.ts';
import { startLimitedClaims } from './limited-claims.ts';

let rates: DestinationRates;
beforeEach(() => {
  rates = new DestinationRates();
});

const stored = (revision: number, perSecond: number) => [
  { destinationId: 'limited', revision, perSecond },
];

describe('the rate limits that are known', () => {
  test('a limit counts from when it is noted, and is written once', () => {
    rates.note('limited', { revision: 1, deliveriesPerSecond: 20 });
    rates.note('limited', { revision: 1, deliveriesPerSecond: 20 });
    expect(rates.has('limited')).toBe(true);
    expect([...rates.takeChanges()]).toEqual([['limited', { revision: 1, perSecond: 20 }]]);
    expect([...rates.takeChanges()]).toEqual([]);
  });

  test('a destination without a limit, and one whose limit is stored, change nothing', () => {
    rates.replace(stored(1, 20));
    rates.note('limited', { revision: 2, deliveriesPerSecond: 20 });
    rates.note('other', { revision: 1 });
    expect([...rates.takeChanges()]).toEqual([]);
    expect(rates.ids).toEqual(['limited']);
  });

  test('a limit that a destination has no longer is removed, also after a write that failed', () => {
    rates.replace(stored(1, 20));
    rates.note('limited', { revision: 2 });
    const changes = rates.takeChanges();
    rates.restore(changes);
    expect(rates.replace(stored(1, 20))).toEqual([]);
    expect(rates.has('limited')).toBe(false);
    expect(rates.takeChanges()).toEqual(changes);
  });

  test('an earlier revision than the stored one changes nothing', () => {
    rates.replace(stored(3, 20));
    rates.note('limited', { revision: 2, deliveriesPerSecond: 10 });
    rates.note('limited', { revision: 2 });
    expect([...rates.takeChanges()]).toEqual([]);
    expect(rates.has('limited')).toBe(true);
  });

  test('a limit that another replica has removed is known no longer', () => {
    rates.replace(stored(1, 20));
    expect(rates.replace([])).toEqual(['limited']);
    expect([rates.has('limited'), rates.isEmpty]).toEqual([false, true]);
  });
});

describe('the claims of limited destinations', () => {
  test('are due when there is work, and when a permit or capacity is expected', () => {
    rates.replace(stored(1, 20));
    expect(rates.takeClaimable(0)).toEqual(['limited']);
    rates.addClaimable(['limited', 'other']);
    expect([rates.nextClaimInMs(5), rates.takeClaimable(5)]).toEqual([0, ['limited']]);
    rates.expectPermit('limited', 100);
    // More work does not bring the permit.
    rates.addClaimable(['limited']);
    expect([rates.nextClaimInMs(40), rates.takeClaimable(40)]).toEqual([60, []]);
    expect(rates.takeClaimable(100)).toEqual(['limited']);
    rates.awaitCapacity('limited');
    expect(rates.nextClaimInMs(200)).toBe(Infinity);
    rates.useFreedCapacity('limited');
    expect(rates.takeClaimable(200)).toEqual(['limited']);
    rates.useFreedCapacity('limited');
    expect(rates.nextClaimInMs(200)).toBe(Infinity);
  });

  test('ask the database nothing until a destination has a limit', async () => {
    const database = await openDispatcherDatabase();
    const [breakers, backlog, leaseMs] = [new OpenBreakers(), new Backlog(), 60_000];
    const queue = new DeliveryQueue({
      ...{ breakers, rates, backlog, leaseMs, maxInFlight: 10, maxInFlightPerDestination: 10 },
      onRefused: () => undefined,
    });
    const pool = database.connect();
    const connect = vi.spyOn(pool, 'connect');
    const query = vi.spyOn(pool, 'query');
    const claims = startLimitedClaims({ pool, log: silentLog, queue, rates, backlog, leaseMs });
    onTestFinished(async () => {
      await claims.close();
      await database.drop();
    });
    const destinationId = randomUUID();
    backlog.add([destinationId]);
    rates.note(destinationId, { revision: 1 });
    for (let turns = 0; turns < 100; turns += 1) await setImmediate();
    expect(connect).not.toHaveBeenCalled();
    expect(query).not.toHaveBeenCalled();
    rates.note(destinationId, { revision: 2, deliveriesPerSecond: 20 });
    const limits = async () =>
      (await database.sql.query('SELECT revision, per_second FROM destination_rates')).rows;
    await expect.poll(limits).toEqual([{ revision: 2, per_second: 20 }]);
  });
});
