/** One consumer group within this process: its queue, and the one handler that works it off. */
import { BusClosedError, type SubscribeOptions, type Subscription } from './bus.ts';
import type { EventMessage } from './message.ts';

/** A batch is what gathered while the last one was under way, up to about this many messages. */
const MAX_BATCH = 1_000;

interface Delivery {
  messages: EventMessage[];
  resolve(): void;
  reject(error: unknown): void;
}

export class ConsumerGroup {
  readonly name: string;
  readonly #queue: Delivery[] = [];
  #subscriber: SubscribeOptions | undefined;
  #working: Promise<void> | undefined;
  #paused = false;
  #inHand = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Messages that are not handled yet. */
  get lag(): number {
    return this.#queue.reduce((sum, { messages }) => sum + messages.length, this.#inHand);
  }

  listensTo(topic: string): boolean {
    return this.#subscriber?.topics.some((listened) => listened === topic) ?? false;
  }

  /**
   * Resolves once the group's handler is done with all of them, however long until it subscribes.
   * Once `withdrawn` fires they are not handed out any more; what is in hand is finished.
   */
  async deliver(messages: EventMessage[], withdrawn?: AbortSignal): Promise<void> {
    withdrawn?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const delivery = { messages, resolve, reject };
    const withdraw = () => {
      const at = this.#queue.indexOf(delivery);
      if (at === -1) return;
      this.#queue.splice(at, 1);
      reject(withdrawn?.reason);
    };
    withdrawn?.addEventListener('abort', withdraw, { once: true });
    this.#queue.push(delivery);
    this.#work();
    try {
      await promise;
    } finally {
      withdrawn?.removeEventListener('abort', withdraw);
    }
  }

  subscribe(options: SubscribeOptions): Subscription {
    if (this.#subscriber) throw new Error(`consumer group ${this.name} is subscribed already`);
    this.#subscriber = options;
    this.#paused = false;
    this.#work();
    return {
      pause: () => {
        this.#paused = true;
      },
      resume: () => {
        this.#paused = false;
        this.#work();
      },
      lag: () => this.lag,
      close: async () => {
        if (this.#subscriber === options) this.#subscriber = undefined;
        await this.#working;
      },
    };
  }

  /** Lets the batch under way finish and rejects what waits. */
  async close(): Promise<void> {
    this.#subscriber = undefined;
    for (const delivery of this.#queue.splice(0)) delivery.reject(new BusClosedError());
    await this.#working;
  }

  #work(): void {
    this.#working ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // Whoever publishes in this turn of the event loop shares the batch.
    await Promise.resolve();
    while (this.#subscriber && !this.#paused && this.#queue.length > 0) {
      await this.#handle(this.#subscriber, this.#takeBatch());
    }
    // In the same breath as the test above, so that no delivery slips in unseen between the two.
    this.#working = undefined;
  }

  async #handle({ handle }: SubscribeOptions, deliveries: Delivery[]): Promise<void> {
    const batch = deliveries.flatMap(({ messages }) => messages);
    this.#inHand = batch.length;
    try {
      await handle(batch);
      for (const { resolve } of deliveries) resolve();
    } catch (error) {
      // The publisher owns the failure; it publishes again when it sees fit.
      for (const { reject } of deliveries) reject(error);
    } finally {
      this.#inHand = 0;
    }
  }

  /** A delivery is never split, so one that alone is too large goes by itself. */
  #takeBatch(): Delivery[] {
    let deliveries = 0;
    let count = 0;
    for (const { messages } of this.#queue) {
      count += messages.length;
      if (deliveries > 0 && count > MAX_BATCH) break;
      deliveries += 1;
    }
    return this.#queue.splice(0, deliveries);
  }
}
