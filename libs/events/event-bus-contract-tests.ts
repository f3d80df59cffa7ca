/** The contract of an event bus, as tests that run against each adapter. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { EventBus } from './bus.ts';
import type { EventMessage } from './message.ts';

const TOPIC = 'creditlane.decisions.v1';
/** The group that must be declared for the topic. */
const GROUP = 'webhook-dispatcher';
/** Long enough for a bus over a network to find its cluster and to join its group. */
const WITHIN = { timeout: 15_000 };

function message(key: string, text = key): EventMessage {
  return { topic: TOPIC, key, headers: { ce_id: text }, value: Buffer.from(text) };
}

function subscribe(bus: EventBus, handle: (batch: EventMessage[]) => Promise<void>) {
  return bus.subscribe({ group: GROUP, topics: [TOPIC], handle });
}

/** Publishes as the relay does: one message after the other, each repeated until the publish succeeds. */
async function publishInTurn(bus: EventBus, messages: EventMessage[]): Promise<void> {
  for (const message of messages) {
    let isPublished = false;
    while (!isPublished) {
      await bus.publish([message]).then(
        () => {
          isPublished = true;
        },
        () => new Promise(setImmediate),
      );
    }
  }
}

/** Records the texts of the handled messages in their order. */
function recordHandled() {
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
  'a published message is delivered unchanged': async (bus) => {
    const received: EventMessage[] = [];
    await subscribe(bus, async (batch) => void received.push(...batch));
    const sent = message('a');
    await bus.publish([sent]);
    await vi.waitUntil(() => received.length === 1, WITHIN);
    expect({ ...received[0], value: Buffer.from(received[0]?.value ?? []) }).toEqual(sent);
  },

  'messages of a key are delivered in the order of their publishing': async (bus) => {
    const log = recordHandled();
    await subscribe(bus, log.note);
    const texts = Array.from({ length: 100 }, (_, index) => `a${index}`);
    for (const text of texts.slice(0, 50)) await bus.publish([message('a', text)]);
    await bus.publish(texts.slice(50).map((text) => message('a', text)));
    await log.includes(100);
    expect(log.texts).toEqual(texts);
  },

  'one batch is handled at a time': async (bus) => {
    const log = recordHandled();
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

  'a batch whose handling failed is delivered again': async (bus) => {
    const log = recordHandled();
    let failures = 0;
    await subscribe(bus, async (batch) => {
      failures += 1;
      if (failures === 1) throw new Error('not yet');
      await log.note(batch);
    });
    // Some adapters deliver again, with others the publish rejects and the publisher repeats it.
    await vi.waitUntil(async () => {
      if (log.texts.length > 0) return true;
      await bus.publish([message('a')]).catch(() => undefined);
      return log.texts.length > 0;
    }, WITHIN);
    expect(new Set(log.texts)).toEqual(new Set(['a']));
  },

  'no message overtakes a message of its key whose handling failed': async (bus) => {
    const log = recordHandled();
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

  'messages published before their group subscribes are delivered': async (bus) => {
    const log = recordHandled();
    const published = bus.publish([message('a')]);
    await new Promise(setImmediate);
    await subscribe(bus, log.note);
    await log.includes(1);
    await published;
    expect(log.texts).toEqual(['a']);
  },

  'a time is reached until which everything is handled': async (bus) => {
    const log = recordHandled();
    const subscription = await subscribe(bus, log.note);
    await bus.publish([message('a')]);
    await log.includes(1);
    const handledMs = performance.now();
    await vi.waitUntil(() => subscription.handledUntilMs() >= handledMs, WITHIN);
  },

  'closing a subscription waits for the batch under way': async (bus) => {
    const log = recordHandled();
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

  'a closed bus refuses publishes and subscriptions': async (bus) => {
    const log = recordHandled();
    await bus.close();
    await expect(bus.publish([message('a')])).rejects.toThrow('the event bus is closed');
    await expect(subscribe(bus, log.note)).rejects.toThrow('the event bus is closed');
  },
};

/** Defines the tests; `makeBus` returns a bus without messages. */
export function describeEventBusContract(name: string, makeBus: () => Promise<EventBus>): void {
  describe(`the event bus ${name}`, () => {
    let bus: EventBus;
    beforeEach(async () => {
      bus = await makeBus();
    });
    afterEach(() => bus.close());
    for (const [title, run] of Object.entries(CONTRACT)) test(title, () => run(bus));
  });
}
