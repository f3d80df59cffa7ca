import { expect, test } from 'vitest';
import { describeEventBusContract } from './event-bus-contract-tests.ts';
import { createInProcessBus } from './in-process-bus.ts';
import type { EventMessage } from './message.ts';
import type { Topic } from './topics.ts';

const TOPIC: Topic = 'creditlane.decisions.v1';

describeEventBusContract('within one process', async () =>
  createInProcessBus({ consumers: { [TOPIC]: ['webhook-dispatcher'] } }),
);

const consumers = { [TOPIC]: ['left', 'right'] };

function message(text: string): EventMessage {
  return { topic: TOPIC, key: 'k', headers: { ce_id: text }, value: Buffer.from(text) };
}

/** Resolves after all callbacks that are ready have run. */
const turn = () => new Promise(setImmediate);

test('a publish resolves once every declared group has subscribed and handled the messages', async () => {
  const bus = createInProcessBus({ consumers });
  const steps: string[] = [];
  const published = bus.publish([message('a')]).then(() => steps.push('published'));
  const handle = (group: string) => async () => {
    await turn();
    steps.push(group);
  };
  await bus.subscribe({ group: 'left', topics: [TOPIC], handle: handle('left') });
  await turn();
  await turn();
  expect(steps).toEqual(['left']);
  await bus.subscribe({ group: 'right', topics: [TOPIC], handle: handle('right') });
  await published;
  expect(steps).toEqual(['left', 'right', 'published']);
  await bus.close();
});

test('a publish rejects when one group fails, after all groups have ended', async () => {
  const bus = createInProcessBus({ consumers });
  let handled = false;
  await bus.subscribe({
    group: 'left',
    topics: [TOPIC],
    handle: () => Promise.reject(new Error('left is unwell')),
  });
  await bus.subscribe({
    group: 'right',
    topics: [TOPIC],
    handle: async () => {
      await turn();
      handled = true;
    },
  });
  await expect(bus.publish([message('a')])).rejects.toThrow('left is unwell');
  expect(handled).toBe(true);
  await bus.close();
});

test('messages published while a batch is handled become the next batch', async () => {
  const bus = createInProcessBus({ consumers: { [TOPIC]: ['left'] } });
  const gate = Promise.withResolvers<void>();
  const batches: number[] = [];
  await bus.subscribe({
    group: 'left',
    topics: [TOPIC],
    handle: async (batch) => {
      batches.push(batch.length);
      await gate.promise;
    },
  });
  const first = bus.publish([message('a')]);
  await turn();
  const others = ['b', 'c', 'd'].map((text) => bus.publish([message(text)]));
  const large = bus.publish(Array.from({ length: 1_500 }, (_, index) => message(`${index}`)));
  gate.resolve();
  await Promise.all([first, ...others, large]);
  expect(batches).toEqual([1, 3, 1_500]);
  await bus.close();
});

test('consumers get copies that they share with no other consumer and not with the publisher', async () => {
  const bus = createInProcessBus({ consumers });
  const received: EventMessage[] = [];
  const handle = async ([first]: EventMessage[]) => {
    if (!first) return;
    received.push(structuredClone(first));
    first.value.fill(0);
    first.headers.ce_id = 'spoilt';
  };
  await bus.subscribe({ group: 'left', topics: [TOPIC], handle });
  await bus.subscribe({ group: 'right', topics: [TOPIC], handle });
  const sent = message('a');
  await bus.publish([sent]);
  expect(received.map(({ headers }) => headers.ce_id)).toEqual(['a', 'a']);
  expect(sent).toEqual(message('a'));
  await bus.close();
});

test('closing rejects a publish that waits for a group which never subscribed', async () => {
  const bus = createInProcessBus({ consumers });
  const waiting = bus.publish([message('a')]);
  const closed = bus.close();
  await expect(waiting).rejects.toThrow('the event bus is closed');
  await closed;
});

test('a publish to a topic that is not declared is refused', async () => {
  const bus = createInProcessBus({ consumers });
  const stray = { ...message('a'), topic: 'creditlane.rumours.v1' };
  await expect(bus.publish([stray])).rejects.toThrow('topic creditlane.rumours.v1 is not declared');
  await bus.close();
});

test('a subscription of a group that is declared for no topic is refused', async () => {
  const bus = createInProcessBus({ consumers });
  const stray = { group: 'middle', topics: [TOPIC], handle: () => Promise.resolve() };
  await expect(bus.subscribe(stray)).rejects.toThrow('consumer group middle is not declared');
  await bus.close();
});

test('a subscription to a topic that the group is not declared for is refused', async () => {
  const bus = createInProcessBus({ consumers });
  const stray = 'creditlane.integrations.v1' as const;
  const options = { group: 'left', topics: [TOPIC, stray], handle: () => Promise.resolve() };
  await expect(bus.subscribe(options)).rejects.toThrow(
    `consumer group left is not declared for topic ${stray}`,
  );
  await bus.close();
});

test('a second subscription of a group is refused', async () => {
  const bus = createInProcessBus({ consumers });
  const options = { group: 'left', topics: [TOPIC], handle: () => Promise.resolve() };
  const subscription = await bus.subscribe(options);
  await expect(bus.subscribe(options)).rejects.toThrow('left is subscribed already');
  await subscription.close();
  await bus.subscribe(options);
  await bus.close();
});
