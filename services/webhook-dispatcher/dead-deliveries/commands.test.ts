import { randomUUID } from 'node:crypto';
import { untilWaiting } from '@creditlane/postgres/test-awaited-locks';
import { readSettings } from '@creditlane/runtime/setting';
import { createLog } from '@creditlane/runtime/telemetry/log';
import type { CommandOptions } from '@creditlane/service/service-command';
import { localSettings } from '@creditlane/service/settings';
import { expect, test } from 'vitest';
import { shareTestFixture } from '../replay-jobs/test-shared-fixture.ts';
import { webhookDispatcher } from '../service.ts';
import { addEndedDeliveries } from '../test-deliveries.ts';
import { DEAD_DELIVERY_COMMANDS } from './commands.ts';

const shared = shareTestFixture();

async function runCommand(name: string, options: CommandOptions = {}) {
  const { environment, sql } = shared.fixture;
  const { own: settings } = readSettings(environment, localSettings(webhookDispatcher));
  const lines: Record<string, unknown>[] = [];
  const print = (line: object) => void lines.push(JSON.parse(JSON.stringify(line)));
  const logged: Record<string, unknown>[] = [];
  const log = createLog('test', {
    destination: { write: (line) => void logged.push(JSON.parse(line)) },
  });
  const command = DEAD_DELIVERY_COMMANDS[name] ?? expect.unreachable();
  const isDone = await command.run({ settings, database: { pool: sql }, log, print }, options);
  return { isDone, lines, logged };
}

test('dead deliveries are listed in pages, of all destinations and of one, without their bodies', async () => {
  const [destination, other] = [randomUUID(), randomUUID()];
  await addEndedDeliveries(shared.fixture, { destinationId: destination, count: 130 });
  await addEndedDeliveries(shared.fixture, { destinationId: other, count: 1 });
  await addEndedDeliveries(shared.fixture, {
    ...{ destinationId: destination, count: 1, state: 'delivered' },
  });
  for (const [options, count] of [
    [{}, 131],
    [{ destination }, 130],
  ] as const) {
    const first = (await runCommand('dead-deliveries', options)).lines;
    expect(first.at(-1)).toEqual({ listed: 100, after: first.at(-2)?.id });
    const after = String(first.at(-2)?.id);
    const second = (await runCommand('dead-deliveries', { ...options, after })).lines;
    const ids = [...first.slice(0, -1), ...second.slice(0, -1)].map(({ id }) => id);
    expect(new Set(ids).size).toBe(count);
    expect(second.at(-1)).toEqual({ listed: count - 100 });
    expect(first[0]).toMatchObject({ event: 'applicationBooked', reason: 'attempts_exhausted' });
    expect(first[0]).not.toHaveProperty('body');
  }
});

test('a page after a delivery that is no longer stored is refused, not begun again', async () => {
  const options = { destination: randomUUID(), after: randomUUID() };
  await expect(runCommand('dead-deliveries', options)).rejects.toThrow('no longer stored');
});

test('a redrive of a destination or event without a dead delivery is refused', async () => {
  const destination = randomUUID();
  await addEndedDeliveries(shared.fixture, { destinationId: destination, count: 1 });
  for (const options of [{ destination: randomUUID() }, { destination, event: 'booked' }]) {
    const refused = await runCommand('redrive-deliveries', { ...options, by: 'ana' });
    expect(refused).toMatchObject({ isDone: false, lines: [{ requested: false }] });
  }
  const pair = { id: randomUUID(), event: 'applicationBooked', by: 'ana' };
  await expect(runCommand('redrive-deliveries', pair)).rejects.toThrow('--event');
});

test('a redrive of a destination that is cancelled ends, as the log says, and the next one begins', async () => {
  const destination = randomUUID();
  await addEndedDeliveries(shared.fixture, { destinationId: destination, count: 1 });
  const redrive = () => runCommand('redrive-deliveries', { destination, by: 'ana' });
  const [asked] = (await redrive()).lines;
  const cancel = () => runCommand('cancel-delivery-redrive', { replay: String(asked?.replayId) });
  const { replayId } = asked ?? {};
  expect(await cancel()).toMatchObject({
    isDone: true,
    lines: [{ cancelled: true }],
    logged: [{ replayId, destinationId: destination, state: 'cancelled', replayed: 0 }],
  });
  expect(await cancel()).toMatchObject({
    isDone: false,
    lines: [{ cancelled: false, problem: 'it has ended already' }],
    logged: [],
  });
  expect(await runCommand('cancel-delivery-redrive', { replay: randomUUID() })).toMatchObject({
    isDone: false,
    lines: [{ cancelled: false, problem: expect.stringContaining('no redrive') }],
  });
  expect((await redrive()).isDone).toBe(true);
});

test('one dead delivery, and then those of a destination, are sent again, and the record says who asked', async () => {
  const receiver = await shared.fixture.addReceiver();
  const { destinationId } = receiver;
  const { settled } = await shared.start({});
  await addEndedDeliveries(shared.fixture, { destinationId, count: 3 });
  const [first] = (await runCommand('dead-deliveries', { destination: destinationId })).lines;
  const id = String(first?.id);

  expect((await runCommand('redrive-deliveries', { id, by: 'ana' })).lines).toEqual([
    { id, redriven: true },
  ]);
  const seen = () => runCommand('dead-delivery', { id });
  await expect.poll(seen).toMatchObject({
    lines: [{ state: 'delivered', replays: 1, latestAttempts: [{ status: 204 }] }],
  });
  // It is dead no more.
  expect((await runCommand('redrive-deliveries', { id, by: 'ana' })).isDone).toBe(false);

  const ofDestination = { destination: destinationId, by: 'bo' };
  const asked = await runCommand('redrive-deliveries', ofDestination);
  expect(asked).toMatchObject({ isDone: true, lines: [{ destinationId, requested: true }] });
  const redrives = async () => (await runCommand('delivery-redrives')).lines;
  await expect.poll(redrives).toMatchObject([
    { requestedBy: 'bo', destinationId, replayState: 'completed', replayed: 2, skipped: 0 },
    { requestedBy: 'ana', deliveryId: id, deliveryState: 'delivered' },
  ]);
  await settled();
  expect(receiver.received).toHaveLength(3);
});

test('a dead delivery that the replay of its owner delivers just before a redrive is not sent again', async () => {
  const { sql } = shared.fixture;
  await addEndedDeliveries(shared.fixture, { destinationId: randomUUID(), count: 1 });
  const [dead] = (await runCommand('dead-deliveries')).lines;
  const id = String(dead?.id);
  // The redrive has read that the delivery is dead, and waits for its lock.
  const delivering = await sql.connect();
  await delivering.query('BEGIN');
  await delivering.query(`UPDATE deliveries SET state = 'delivered', replays = 1`);
  const redrive = runCommand('redrive-deliveries', { id, by: 'ana' });
  await untilWaiting(sql, 1);
  await delivering.query('COMMIT');
  delivering.release();
  expect(await redrive).toMatchObject({
    isDone: false,
    lines: [{ id, redriven: false, problem: 'there is no dead delivery with this id' }],
  });
  expect((await runCommand('dead-delivery', { id })).lines).toMatchObject([{ state: 'delivered' }]);
  expect((await runCommand('delivery-redrives')).lines).toEqual([]);
});

test('a delivery to a disabled destination is not sent again, and a second replay waits for the first', async () => {
  const destinationId = randomUUID();
  await addEndedDeliveries(shared.fixture, { destinationId, count: 1 });
  await shared.fixture.sql.query(
    `INSERT INTO destination_states (destination_id, disabled_at, disabled_reason)
     VALUES ($1, now(), 'gone')`,
    [destinationId],
  );
  const [dead] = (await runCommand('dead-deliveries')).lines;
  const refused = await runCommand('redrive-deliveries', { id: String(dead?.id), by: 'ana' });
  expect(refused).toMatchObject({
    isDone: false,
    lines: [{ redriven: false, problem: expect.stringContaining('disabled') }],
  });

  const ofDestination = { destination: destinationId, by: 'ana' };
  expect((await runCommand('redrive-deliveries', ofDestination)).isDone).toBe(true);
  expect(await runCommand('redrive-deliveries', ofDestination)).toMatchObject({
    isDone: false,
    lines: [{ requested: false, problem: expect.stringContaining('not finished') }],
  });
});
