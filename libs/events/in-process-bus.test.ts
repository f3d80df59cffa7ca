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

/** Lets everything that is ready to happen happen. */
const turn = () => new Promise(setImmediate);

test('publishing takes until every declared group has subscribed and handled', async () => {
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

test('a group that fails is the publisher’s failure, once all groups are done', async () => {
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

test('what gathers while a batch is under way becomes the next batch', async () => {
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

test('consumers share no objects, with each other or with the publisher', async () => {
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

test('closing rejects those who wait for a group that never came', async () => {
  const bus = createInProcessBus({ consumers });
  const waiting = bus.publish([message('a')]);
  const closed = bus.close();
  await expect(waiting).rejects.toThrow('the event bus is closed');
  await closed;
});

test('a topic that nobody declared is refused', async () => {
  const bus = createInProcessBus({ consumers });
  const stray = { ...message('a'), topic: 'creditlane.rumours.v1' };
  await expect(bus.publish([stray])).rejects.toThrow('topic creditlane.rumours.v1 is not declared');
  await bus.close();
});

test('a group subscribes once', async () => {
  const bus = createInProcessBus({ consumers });
  const options = { group: 'left', topics: [TOPIC], handle: () => Promise.resolve() };
  const subscription = await bus.subscribe(options);
  await expect(bus.subscribe(options)).rejects.toThrow('left is subscribed already');
  await subscription.close();
  await bus.subscribe(options);
  await bus.close();
});
