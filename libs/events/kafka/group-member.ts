/** What a member of a consumer group does with the batches it fetched: handled first, committed then. */
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { ConsumerGroup } from '../consumer-group.ts';
import type { EventMessage } from '../message.ts';

/** A large fetch is handed out in pieces of this many messages. */
const MAX_SLICE = 500;
const BACKOFF = { baseMs: 100, capMs: 5_000 };

export interface MembershipOptions {
  /** Gathers what comes from several partitions at the same time into one batch for the handler. */
  queue: ConsumerGroup;
  prefix: string;
  heartbeatMs: number;
  /** Fires when the subscription closes: what is in hand is finished, the rest left to others. */
  stop: AbortSignal;
}

export class Membership {
  readonly #options: MembershipOptions;
  readonly #pulse: Pulse;
  #joins = 0;
  #committing: Promise<void> | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#pulse = new Pulse(options.heartbeatMs);
  }

  /** To be called each time the group has given out its partitions anew. */
  joined(): void {
    this.#joins += 1;
  }

  /**
   * Resolves once the batch is handled and committed, and rejects only when the group must be joined
   * again, never because of a message or its handler: that is tried for as long as it takes.
   */
  async eachBatch(payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, heartbeat } = payload;
    const { prefix, stop } = this.#options;
    const topic = batch.topic.slice(prefix.length);
    const joins = this.#joins;
    const lost = this.#pulse.begin(heartbeat);
    try {
      for (let at = 0; at < batch.messages.length; at += MAX_SLICE) {
        const slice = batch.messages.slice(at, at + MAX_SLICE);
        await this.#untilHandled(topic, slice, AbortSignal.any([lost, stop]));
        // The partition may belong to another member since; who has it now begins where we began.
        if (joins !== this.#joins) return;
        resolveOffset(slice.at(-1)?.offset ?? batch.lastOffset());
        await this.#commit(payload);
      }
      lost.throwIfAborted();
    } catch (error) {
      if (!stop.aborted) throw error;
    } finally {
      this.#pulse.end();
    }
  }

  async #untilHandled(topic: string, messages: KafkaMessage[], given: AbortSignal): Promise<void> {
    const pause = new WakeSignal();
    for (let attempt = 1; ; attempt += 1) {
      try {
        const events = messages.map((message) => toEventMessage(topic, message));
        return await this.#options.queue.deliver(events, given);
      } catch {
        // Whose handler it is has logged it; here it only means "again", unless we must let go.
        given.throwIfAborted();
        await pause.wait(backoffMs(attempt, BACKOFF), given);
      }
    }
  }

  /** One request for all partitions whose batches were done in the same turn. */
  #commit({ commitOffsetsIfNecessary, uncommittedOffsets }: EachBatchPayload): Promise<void> {
    this.#committing ??= Promise.resolve().then(() => {
      this.#committing = undefined;
      return commitOffsetsIfNecessary(uncommittedOffsets());
    });
    return this.#committing;
  }
}

/** Tells the group that we live while batches are under way, which may take longer than it waits. */
class Pulse {
  readonly #everyMs: number;
  #busy = 0;
  #timer: NodeJS.Timeout | undefined;
  #lost = new AbortController();

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** The signal fires, with the reason, when the group has no longer any use for the batch. */
  begin(heartbeat: () => Promise<void>): AbortSignal {
    if (this.#busy === 0) {
      const lost = new AbortController();
      this.#lost = lost;
      // It goes on after a failure: who is being replaced must still be known while it finishes.
      this.#timer = setInterval(() => {
        heartbeat().catch((error: unknown) => lost.abort(error));
      }, this.#everyMs);
    }
    this.#busy += 1;
    return this.#lost.signal;
  }

  end(): void {
    this.#busy -= 1;
    if (this.#busy === 0) clearInterval(this.#timer);
  }
}

/** Takes whatever bytes there are; whether they are an event is for the handler to find out. */
function toEventMessage(topic: string, message: KafkaMessage): EventMessage {
  const headers = Object.entries(message.headers ?? {}).map(([name, value]) => {
    const first = Array.isArray(value) ? value[0] : value;
    return [name, first?.toString() ?? ''];
  });
  return {
    topic,
    key: message.key?.toString() ?? '',
    headers: Object.fromEntries(headers),
    value: message.value ?? Buffer.alloc(0),
  };
}
