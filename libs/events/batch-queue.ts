/** The messages that wait in this process for the one handler of a consumer group, which takes them in batches. */
import { BusClosedError, type SubscribeOptions, type Subscription } from './bus.ts';
import { bytesOf, type EventMessage, MAX_BATCH_BYTES } from './message.ts';

/**
 * A batch is what was queued while the last batch was handled, up to about this many messages and about
 * MAX_BATCH_BYTES.
 */
const MAX_BATCH = 1_000;

/** Messages that were queued together; they are handled in one batch. */
interface QueuedMessages {
  messages: EventMessage[];
  resolve(): void;
  reject(error: unknown): void;
}

export class BatchQueue {
  readonly group: string;
  readonly #queue: QueuedMessages[] = [];
  #subscriber: SubscribeOptions | undefined;
  #working: Promise<void> | undefined;
  #handling = 0;

  constructor(group: string) {
    this.group = group;
  }

  /** The number of messages that are queued or being handled. */
  get lag(): number {
    return this.#queue.reduce((sum, { messages }) => sum + messages.length, this.#handling);
  }

  /**
   * Resolves once the handler has handled the messages, which may be after a later `subscribe`. When
   * `withdrawn` aborts, queued messages are not handled any more; a batch under way is finished.
   */
  async deliver(messages: EventMessage[], withdrawn?: AbortSignal): Promise<void> {
    withdrawn?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queued = { messages, resolve, reject };
    const withdraw = () => {
      const at = this.#queue.indexOf(queued);
      if (at === -1) return;
      this.#queue.splice(at, 1);
      reject(withdrawn?.reason);
    };
    withdrawn?.addEventListener('abort', withdraw, { once: true });
    this.#queue.push(queued);
    this.#work();
    try {
      await promise;
    } finally {
      withdrawn?.removeEventListener('abort', withdraw);
    }
  }

  subscribe(options: SubscribeOptions): Subscription {
    if (this.#subscriber) throw new Error(`consumer group ${this.group} is subscribed already`);
    this.#subscriber = options;
    this.#work();
    return {
      // A message counts as published when it is handled.
      handledUntilMs: () => performance.now(),
      close: async () => {
        if (this.#subscriber === options) this.#subscriber = undefined;
        await this.#working;
      },
    };
  }

  /** Rejects the queued messages and resolves after the batch under way. */
  async close(): Promise<void> {
    this.#subscriber = undefined;
    for (const queued of this.#queue.splice(0)) queued.reject(new BusClosedError());
    await this.#working;
  }

  #work(): void {
    this.#working ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // Messages of several calls in this turn of the event loop share a batch.
    await Promise.resolve();
    while (this.#subscriber && this.#queue.length > 0) {
      await this.#handle(this.#subscriber, this.#takeBatch());
    }
    // No await between the loop's condition and this line: messages queued in between would wait.
    this.#working = undefined;
  }

  async #handle({ handle }: SubscribeOptions, queued: QueuedMessages[]): Promise<void> {
    const batch = queued.flatMap(({ messages }) => messages);
    this.#handling = batch.length;
    try {
      await handle(batch);
      for (const { resolve } of queued) resolve();
    } catch (error) {
      // The publisher decides when it publishes again.
      for (const { reject } of queued) reject(error);
    } finally {
      this.#handling = 0;
    }
  }

  /** Messages that were queued together are never split, even when they exceed the limits. */
  #takeBatch(): QueuedMessages[] {
    let taken = 0;
    let count = 0;
    let bytes = 0;
    for (const { messages } of this.#queue) {
      count += messages.length;
      bytes += bytesOf(messages);
      if (taken > 0 && (count > MAX_BATCH || bytes > MAX_BATCH_BYTES)) break;
      taken += 1;
    }
    return this.#queue.splice(0, taken);
  }
}
