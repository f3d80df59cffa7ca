/** What every event bus must do, as tests to be run against each adapter. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { EventBus } from './bus.ts';
import type { EventMessage } from './message.ts';

const TOPIC = 'creditlane.decisions.v1';
/** The group that must be declared for the topic. */
const GROUP = 'webhook-dispatcher';
/** A bus over a network has to find its cluster and join its group first. */
const WITHIN = { timeout: 15_000 };

function message(key: string, text = key): EventMessage {
  return { topic: TOPIC, key, headers: { ce_id: text }, value: Buffer.from(text) };
}

function subscribe(bus: EventBus, handle: (batch: EventMessage[]) => Promise<void>) {
  return bus.subscribe({ group: GROUP, topics: [TOPIC], handle });
}

/** Publishes as the relay does: one batch after the other, each until it is safe. */
async function publishInTurn(bus: EventBus, messages: EventMessage[]): Promise<void> {
  for (const message of messages) {
    let safe = false;
    while (!safe) {
      await bus.publish([message]).then(
        () => {
          safe = true;
        },
        () => new Promise(setImmediate),
      );
    }
  }
}

/** Remembers what was handled, in that order. */
function handlingLog() {
  const texts: string[] = [];
  return {
    texts,
    note: async (batch: EventMessage[]) => {
      texts.push(...batch.map(({ value }) => Buffer.from(value).toString()));
    },
    includes: (count: number) => vi.waitUntil(() => texts.length >= count, WITHIN),
  };
}

const CONTRACT: Record<string, (bus: EventBus) => Promise<void>> = {
  'hands every message on, whole': async (bus) => {
    const received: EventMessage[] = [];
    await subscribe(bus, async (batch) => void received.push(...batch));
    const sent = message('a');
    await bus.publish([sent]);
    await vi.waitUntil(() => received.length === 1, WITHIN);
    expect({ ...received[0], value: Buffer.from(received[0]?.value ?? []) }).toEqual(sent);
  },

  'keeps the order of a key': async (bus) => {
    const log = handlingLog();
    await subscribe(bus, log.note);
    const texts = Array.from({ length: 100 }, (_, index) => `a${index}`);
    for (const text of texts.slice(0, 50)) await bus.publish([message('a', text)]);
    await bus.publish(texts.slice(50).map((text) => message('a', text)));
    await log.includes(100);
    expect(log.texts).toEqual(texts);
  },

  'hands out one batch at a time': async (bus) => {
    const log = handlingLog();
    let atOnce = 0;
    let most = 0;
    await subscribe(bus, async (batch) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      await log.note(batch);
    });
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    await Promise.all(keys.map((key) => bus.publish([message(key)])));
    await log.includes(20);
    expect(most).toBe(1);
    expect(log.texts.toSorted()).toEqual(keys.toSorted());
  },

  'brings a batch again whose handling failed': async (bus) => {
    const log = handlingLog();
    let failures = 0;
    await subscribe(bus, async (batch) => {
      failures += 1;
      if (failures === 1) throw new Error('not yet');
      await log.note(batch);
    });
    // Whether the adapter or the publisher tries again is the adapter's business.
    await vi.waitUntil(async () => {
      if (log.texts.length > 0) return true;
      await bus.publish([message('a')]).catch(() => undefined);
      return log.texts.length > 0;
    }, WITHIN);
    expect(new Set(log.texts)).toEqual(new Set(['a']));
  },

  'lets no message pass one of its key whose handling failed': async (bus) => {
    const log = handlingLog();
    const failed = new Set<string>();
    await subscribe(bus, async (batch) => {
      for (const one of batch) {
        const text = Buffer.from(one.value).toString();
        if (!failed.has(text)) {
          failed.add(text);
          throw new Error('not yet');
        }
        if (!log.texts.includes(text)) await log.note([one]);
      }
    });
    await publishInTurn(
      bus,
      ['a1', 'a2', 'a3'].map((text) => message('a', text)),
    );
    await log.includes(3);
    expect(log.texts).toEqual(['a1', 'a2', 'a3']);
  },

  'keeps what is published before its group has subscribed': async (bus) => {
    const log = handlingLog();
    const published = bus.publish([message('a')]);
    await new Promise(setImmediate);
    await subscribe(bus, log.note);
    await log.includes(1);
    await published;
    expect(log.texts).toEqual(['a']);
  },

  'hands nothing out again while paused, either': async (bus) => {
    const log = handlingLog();
    let handled = 0;
    const failed = Promise.withResolvers<void>();
    const subscription = await subscribe(bus, async (batch) => {
      handled += 1;
      if (handled > 1) return log.note(batch);
      subscription.pause();
      failed.resolve();
      throw new Error('not yet');
    });
    const published = publishInTurn(bus, [message('a'), message('b')]);
    await failed.promise;
    await vi.waitUntil(() => subscription.lag() > 0, WITHIN);
    expect(handled).toBe(1);
    subscription.resume();
    await published;
    await log.includes(2);
    expect(log.texts.toSorted()).toEqual(['a', 'b']);
  },

  'hands nothing out while paused, and all of it afterwards': async (bus) => {
    const log = handlingLog();
    const subscription = await subscribe(bus, log.note);
    subscription.pause();
    const published = bus.publish([message('a'), message('b')]);
    await vi.waitUntil(() => subscription.lag() === 2, WITHIN);
    expect(log.texts).toEqual([]);
    subscription.resume();
    await published;
    await log.includes(2);
    expect(log.texts.toSorted()).toEqual(['a', 'b']);
    await vi.waitUntil(() => subscription.lag() === 0, WITHIN);
  },

  'closes a subscription after the batch under way': async (bus) => {
    const log = handlingLog();
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const subscription = await subscribe(bus, async (batch) => {
      started.resolve();
      await finish.promise;
      await log.note(batch);
    });
    const published = bus.publish([message('a')]);
    await started.promise;
    const closed = subscription.close();
    finish.resolve();
    await closed;
    expect(log.texts).toEqual(['a']);
    await published;
  },

  'takes nothing any more once it is closed': async (bus) => {
    const log = handlingLog();
    await bus.close();
    await expect(bus.publish([message('a')])).rejects.toThrow('the event bus is closed');
    await expect(subscribe(bus, log.note)).rejects.toThrow('the event bus is closed');
  },
};

/** Runs the contract; `makeBus` gives a bus on which nothing was published yet. */
export function describeEventBusContract(name: string, makeBus: () => Promise<EventBus>): void {
  describe(`the event bus ${name}`, () => {
    let bus: EventBus;
    beforeEach(async () => {
      bus = await makeBus();
    });
    afterEach(() => bus.close());
    for (const [promise, prove] of Object.entries(CONTRACT)) test(promise, () => prove(bus));
  });
}
