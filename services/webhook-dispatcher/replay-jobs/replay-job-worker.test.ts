import { randomUUID } from 'node:crypto';
import { type Replay, ReplayState } from '@creditlane/proto/webhooks/v1/deliveries_service';
import { describe, expect, test } from 'vitest';
import { deliveriesClient, ownerOf } from '../own-deliveries/test-owner.ts';
import { addEndedDeliveries } from '../test-deliveries.ts';
import { type Dispatcher, type Receiver, sequences, until, upTo } from '../test-fixture.ts';
import { accept, type Received } from '../test-receiver.ts';
import { shareTestFixture } from './test-shared-fixture.ts';

const shared = shareTestFixture();
const start = (settings: Record<string, string> = {}) =>
  shared.start({ REPLAYS_PER_SECOND: '1000', ...settings });

const ask = async (dispatcher: Dispatcher, receiver: Receiver): Promise<string> => {
  const asked = await deliveriesClient(dispatcher).replayDeliveries(
    { filter: {} },
    ownerOf(receiver),
  );
  return asked.replay?.replayId ?? expect.unreachable();
};

const read = async (
  dispatcher: Dispatcher,
  receiver: Receiver,
  replayId: string,
): Promise<Replay> => {
  const { replay } = await deliveriesClient(dispatcher).getReplay({ replayId }, ownerOf(receiver));
  return replay ?? expect.unreachable();
};

/** How often the deliveries were replayed: the numbers that occur. */
async function replayCounts(): Promise<number[]> {
  const { rows } = await shared.fixture.sql.query(
    'SELECT DISTINCT replays FROM deliveries ORDER BY 1',
  );
  return rows.map(({ replays }) => replays);
}

const applicationOf = ({ body }: Received): string => JSON.parse(body).applicationId;

describe('a replay of many deliveries', () => {
  test('keeps the order of each application, while fresh deliveries come and some attempts fail', async () => {
    const receiver = await shared.fixture.addReceiver();
    const delivered: Received[] = [];
    let requests = 0;
    receiver.respondWith((one, response) => {
      requests += 1;
      if (requests % 5 === 0) return void response.writeHead(503).end();
      delivered.push(one);
      response.end();
    });
    // A slice of ten deliveries has two or three of each application.
    const settings = { REPLAYS_PER_SECOND: '40', RETRY_DELAYS: Array(20).fill('30ms').join(',') };
    const dispatcher = await start(settings);
    const applications = await addEndedDeliveries(shared.fixture, {
      ...receiver,
      count: 40,
      applications: 4,
    });
    await shared.fixture.sql.query(
      `INSERT INTO submissions SELECT application_id, $1, max(sequence) FROM deliveries GROUP BY 1`,
      [shared.fixture.creditorId],
    );
    await shared.fixture.sql.query(
      `INSERT INTO sequences (application_id, destination_id, creditor_id, last_sequence)
       SELECT application_id, destination_id, $1, max(sequence) FROM deliveries GROUP BY 1, 2`,
      [shared.fixture.creditorId],
    );
    const replayId = await ask(dispatcher, receiver);
    for (const sequence of [11, 12, 13]) {
      await until(() => expect(delivered.length).toBeGreaterThan((sequence - 10) * 8));
      await dispatcher.bus.publish(
        applications.map((applicationId) => shared.fixture.event({ applicationId, sequence })),
      );
    }
    await dispatcher.settled();
    await until(() => expect(delivered).toHaveLength(52));
    expect(await read(dispatcher, receiver, replayId)).toMatchObject({ replayed: 40, skipped: 0 });
    for (const applicationId of applications) {
      const own = sequences(delivered.filter((one) => applicationOf(one) === applicationId));
      expect(own.filter((sequence) => sequence <= 10)).toEqual(upTo(10));
      expect(own.filter((sequence) => sequence > 10)).toEqual([11, 12, 13]);
    }
  });

  test('does not delay fresh deliveries of other applications, even if no replay is answered', async () => {
    const receiver = await shared.fixture.addReceiver();
    const dispatcher = await start({ MAX_IN_FLIGHT_PER_DESTINATION: '4' });
    const old = new Set(await addEndedDeliveries(shared.fixture, { ...receiver, count: 12 }));
    const isReplay = (one: Received) => old.has(applicationOf(one));
    const held: (() => void)[] = [];
    receiver.respondWith((one, response) => {
      if (isReplay(one)) held.push(() => response.end());
      else response.end();
    });
    const replayId = await ask(dispatcher, receiver);
    await until(() => expect(held).toHaveLength(1));
    for (const count of upTo(3)) {
      await dispatcher.bus.publish([shared.fixture.event({ applicationId: randomUUID() })]);
      await until(() =>
        expect(receiver.received.filter((it) => !isReplay(it))).toHaveLength(count),
      );
    }
    // By its successes the destination may have four requests. Half of them are replays.
    await until(() => expect(held).toHaveLength(2));
    expect(await read(dispatcher, receiver, replayId)).toMatchObject({
      state: ReplayState.RUNNING,
      matched: 12,
      replayed: 2,
      remaining: 10,
    });
    receiver.respondWith(accept);
    for (const respond of held) respond();
    await dispatcher.settled();
    expect(await read(dispatcher, receiver, replayId)).toMatchObject({ replayed: 12 });
  });

  test('to a limited destination delays fresh deliveries by half of a second’s replays, however many requests it may have', async () => {
    const receiver = await shared.fixture.addReceiver();
    const dispatcher = await start();
    const old = new Set<string>();
    const publish = (count: number) =>
      dispatcher.bus.publish(
        upTo(count).map(() => shared.fixture.event({ applicationId: randomUUID() })),
      );
    const fresh = () => receiver.received.filter((one) => !old.has(applicationOf(one))).length;
    await publish(40);
    await until(() => expect(fresh()).toBe(40));
    shared.fixture.integrations.limit(receiver.destinationId, 10);
    await publish(1);
    await until(() => expect(fresh()).toBe(41));
    for (const one of await addEndedDeliveries(shared.fixture, { ...receiver, count: 40 }))
      old.add(one);
    await ask(dispatcher, receiver);
    const replays = () => receiver.received.length - fresh();
    await until(() => expect(replays()).toBeGreaterThan(0));
    await publish(1);
    const before = replays();
    await until(() => expect(fresh()).toBe(42));
    expect(replays() - before).toBeLessThanOrEqual(10);
  });

  test('puts no more deliveries back into the queue than its rate allows', async () => {
    const receiver = await shared.fixture.addReceiver();
    const dispatcher = await start({ REPLAYS_PER_SECOND: '20' });
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 15 });
    await ask(dispatcher, receiver);
    await dispatcher.settled();
    const { rows } = await shared.fixture.sql.query(
      `SELECT count(*)::int, extract(epoch FROM
         lead(replayed_at) OVER (ORDER BY replayed_at) - replayed_at)::float8 AS "secondsToNext"
       FROM deliveries GROUP BY replayed_at ORDER BY replayed_at`,
    );
    expect(rows.length).toBeGreaterThan(2);
    for (const { count, secondsToNext } of rows.slice(0, -1)) {
      expect(count).toBeLessThanOrEqual(5);
      expect(secondsToNext).toBeGreaterThanOrEqual(count / 20);
    }
  });

  test('is written once by two dispatchers, and goes on when one of them closes', async () => {
    const receiver = await shared.fixture.addReceiver();
    const first = await start({ REPLAYS_PER_SECOND: '100' });
    const second = await start({ REPLAYS_PER_SECOND: '100' });
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 80 });
    const replayId = await ask(first, receiver);
    await until(() => expect(receiver.received.length).toBeGreaterThan(20));
    await first.close();
    await second.settled();
    expect(await read(second, receiver, replayId)).toMatchObject({ matched: 80, replayed: 80 });
    expect(await replayCounts()).toEqual([1]);
    expect(receiver.received).toHaveLength(80);
  });

  test('whose transactions break off before their commit loses and doubles nothing', async () => {
    const receiver = await shared.fixture.addReceiver();
    const dispatcher = await start({ REPLAYS_PER_SECOND: '200' });
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 150 });
    // Every second change of the job ends the connection, after the deliveries of the slice were written.
    await shared.fixture.sql.query('CREATE SEQUENCE replay_changes');
    await shared.fixture.sql.query(
      `CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF NEW.replayed > OLD.replayed AND nextval('replay_changes') % 2 = 1 THEN
           PERFORM pg_terminate_backend(pg_backend_pid());
         END IF;
         RETURN NEW;
       END $$`,
    );
    await shared.fixture.sql.query(
      `CREATE TRIGGER break_off AFTER UPDATE ON replay_jobs FOR EACH ROW EXECUTE FUNCTION break_off()`,
    );
    const replayId = await ask(dispatcher, receiver);
    // A slice that fails is tried again after a while.
    const resume = setInterval(
      () => void shared.fixture.sql.query('UPDATE replay_jobs SET next_slice_at = now()'),
      50,
    );
    await until(async () =>
      expect((await read(dispatcher, receiver, replayId)).state).toBe(ReplayState.COMPLETED),
    ).finally(() => clearInterval(resume));
    await shared.fixture.sql.query('DROP TRIGGER break_off ON replay_jobs');
    await dispatcher.settled();
    expect(await read(dispatcher, receiver, replayId)).toMatchObject({ replayed: 150 });
    expect(await replayCounts()).toEqual([1]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(150);
    const log = JSON.stringify(dispatcher.logged());
    expect(log).toContain('a replay of deliveries is postponed');
  });
});
