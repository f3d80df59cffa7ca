import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { runQuery } from '@creditlane/postgres/statement';
import { silentLog } from '@creditlane/runtime/test-log';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { saveRatesQuery } from '../../store/rates.ts';
import { insertDeliveries, openDispatcherDatabase } from '../../test-deliveries.ts';
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
    const changes = rates.unwritten();
    expect([...changes]).toEqual([['limited', { revision: 1, perSecond: 20 }]]);
    rates.markWritten(changes);
    expect([...rates.unwritten()]).toEqual([]);
  });

  test('a destination without a limit, and one whose limit is stored, change nothing', () => {
    rates.replace(stored(1, 20));
    rates.note('limited', { revision: 1, deliveriesPerSecond: 20 });
    rates.note('other', { revision: 1 });
    expect([...rates.unwritten()]).toEqual([]);
    expect(rates.ids).toEqual(['limited']);
  });

  test('a change counts until it is written, whatever the database still holds', () => {
    rates.note('limited', { revision: 1, deliveriesPerSecond: 20 });
    expect(rates.replace([])).toEqual([]);
    expect(rates.has('limited')).toBe(true);
    rates.note('limited', { revision: 2 });
    expect(rates.replace(stored(1, 20))).toEqual([]);
    expect(rates.has('limited')).toBe(false);
  });

  test('a change that is noted while an earlier one is being written is written after it', () => {
    rates.note('limited', { revision: 1, deliveriesPerSecond: 20 });
    const writing = rates.unwritten();
    rates.note('limited', { revision: 2, deliveriesPerSecond: 10 });
    rates.markWritten(writing);
    expect([...rates.unwritten()]).toEqual([['limited', { revision: 2, perSecond: 10 }]]);
  });

  test('a limit stays while an earlier version of the integrations service answers without it, also after it was set anew', () => {
    rates.replace(stored(1, 20));
    rates.note('limited', { revision: 1 });
    rates.note('limited', { revision: 2, deliveriesPerSecond: 20 });
    rates.note('limited', { revision: 2 });
    expect([...rates.unwritten()]).toEqual([['limited', { revision: 2, perSecond: 20 }]]);
    expect(rates.has('limited')).toBe(true);
  });

  test('an earlier revision than the stored one changes nothing', () => {
    rates.replace(stored(3, 20));
    rates.note('limited', { revision: 2, deliveriesPerSecond: 10 });
    rates.note('limited', { revision: 2 });
    expect([...rates.unwritten()]).toEqual([]);
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

  test('of all limited destinations forget what was expected', () => {
    rates.replace(stored(1, 20));
    rates.awaitCapacity('limited');
    expect(rates.takeAll()).toEqual(['limited']);
    rates.addClaimable(['limited']);
    expect(rates.takeClaimable(0)).toEqual(['limited']);
  });

  test('are expected no more once the limit is removed', () => {
    rates.replace(stored(1, 20));
    rates.note('limited', { revision: 2 });
    expect(rates.nextClaimInMs(0)).toBe(Infinity);
  });
});

describe('the task that claims', () => {
  const destinationId = randomUUID();

  async function startClaims() {
    const database = await openDispatcherDatabase();
    const [breakers, backlog, leaseMs] = [new OpenBreakers(), new Backlog(), 60_000];
    const queue = new DeliveryQueue({
      ...{ breakers, rates, backlog, leaseMs, maxInFlight: 10, maxInFlightPerDestination: 10 },
      onRefused: () => undefined,
    });
    const pool = database.connect();
    const claims = startLimitedClaims({ pool, log: silentLog, queue, rates, backlog, leaseMs });
    onTestFinished(async () => {
      await claims.close();
      await database.drop();
    });
    return { database, pool, backlog, queue, claims };
  }

  test('asks the database nothing until a destination has a limit, and then is not late', async () => {
    const { database, pool, backlog, claims } = await startClaims();
    const connect = vi.spyOn(pool, 'connect');
    const query = vi.spyOn(pool, 'query');
    backlog.add([destinationId]);
    rates.note(destinationId, { revision: 1 });
    for (let turns = 0; turns < 100; turns += 1) await setImmediate();
    expect(connect).not.toHaveBeenCalled();
    expect(query).not.toHaveBeenCalled();
    const startedMs = performance.now();
    const now = vi.spyOn(performance, 'now').mockImplementation(() => startedMs + 3_600_000);
    rates.note(destinationId, { revision: 2, deliveriesPerSecond: 20 });
    expect(claims.claimAgeMs).toBe(0);
    now.mockRestore();
    const limits = async () =>
      (await database.sql.query('SELECT revision, per_second FROM destination_rates')).rows;
    await expect.poll(limits).toEqual([{ revision: 2, per_second: 20 }]);
  });

  test('claims again at once when capacity became free during a claim', async () => {
    const { database, queue } = await startClaims();
    const awaitCapacity = vi.spyOn(rates, 'awaitCapacity');
    await runQuery(database.sql, saveRatesQuery([{ destinationId, revision: 1, perSecond: 20 }]));
    await insertDeliveries(database.sql, [{ destinationId }]);
    const none = { total: 10, byDestination: new Map(), otherDestinations: 0 };
    vi.spyOn(queue, 'limitedCapacity').mockReturnValueOnce(none);
    queue.shareRates([{ destinationId, revision: 1, perSecond: 20 }]);
    await expect.poll(() => queue.size).toBe(1);
    expect(awaitCapacity).not.toHaveBeenCalled();
  });
});
