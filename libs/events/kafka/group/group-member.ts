/** A member of a consumer group: handles the batches that it has fetched, then commits their offsets. */
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { pause } from '@creditlane/runtime/concurrency/pause';
import { withTimeLimit } from '@creditlane/runtime/concurrency/time-limit';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { BatchQueue } from '../../batch-queue.ts';
import { type EventMessage, MAX_BATCH_BYTES, split } from '../../message.ts';
import { OffsetCommits } from './offset-commits.ts';

/** The messages of a large fetch are handled in slices of this size. */
const SLICE = { maxMessages: 500, maxBytes: MAX_BATCH_BYTES };
const BACKOFF = { baseMs: 100, capMs: 5_000 };
/** How long a member that closes waits for its last commit; a process has 20 seconds to close everything. */
const LAST_COMMIT_MS = 2_000;

export interface GroupMemberOptions {
  /** Joins the messages of several partitions into one batch for the handler. */
  queue: BatchQueue;
  prefix: string;
  heartbeatMs: number;
  /** Aborts when the subscription closes: the batch under way is finished, later messages are not. */
  stop: AbortSignal;
  log: Log;
}

export class GroupMember {
  readonly #options: GroupMemberOptions;
  readonly #heartbeats: Heartbeats;
  #commits = new OffsetCommits();
  #joins = 0;

  constructor(options: GroupMemberOptions) {
    this.#options = options;
    this.#heartbeats = new Heartbeats(options.heartbeatMs);
  }

  /**
   * Called before the member joins its group again, while the cluster still takes commits of the generation that ends.
   * When the leader of a partition has moved or partitions were added, kafkajs joins again without this call, and what
   * waits for its commit is handled again.
   */
  rebalancing(): void {
    this.#commits.flush().catch((err: unknown) => {
      this.#options.log.debug({ err }, 'offsets were not committed before a rebalance');
    });
  }

  /** Called after each rebalance, which may have assigned the partitions to other members. */
  joined(): void {
    this.#joins += 1;
    this.#commits.stop();
    this.#commits = new OffsetCommits();
  }

  /** Ends the commits beside the fetches. A member that leaves its group first commits what it has handled. */
  async close(): Promise<void> {
    if (this.#options.stop.aborted) await this.#commitLast();
    this.#commits.stop();
  }

  /**
   * Resolves once the batch is handled; its offsets are committed soon after, and at once while the member is closing.
   * A handler that fails is called again until it succeeds, so a rejection always means that the member must join the
   * group again.
   */
  async eachBatch(payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, heartbeat } = payload;
    this.#commits.throwIfFailed();
    const { prefix, stop } = this.#options;
    const topic = batch.topic.slice(prefix.length);
    const joins = this.#joins;
    const lost = this.#heartbeats.begin(heartbeat);
    try {
      const events = batch.messages.map((message) => toEventMessage(topic, message));
      let handled = 0;
      for (const slice of split(events, SLICE)) {
        await this.#untilHandled(slice, AbortSignal.any([lost, stop]));
        handled += slice.length;
        // After a rebalance another member may have the partition, and begins with this batch again.
        if (joins !== this.#joins) return;
        resolveOffset(batch.messages[handled - 1]?.offset ?? batch.lastOffset());
        this.#commits.request(payload);
        if (stop.aborted) await this.#commitLast();
      }
      lost.throwIfAborted();
    } catch (error) {
      if (!stop.aborted) throw error;
    } finally {
      this.#heartbeats.end();
    }
  }

  async #commitLast(): Promise<void> {
    const limitMs = LAST_COMMIT_MS;
    const makeError = () => new Error(`no answer to the commit within ${limitMs} ms`);
    try {
      await withTimeLimit(this.#commits.flush(), { limitMs, makeError });
    } catch (err) {
      const { queue, log } = this.#options;
      log.warn(
        { err, group: queue.group },
        'the last offsets were not committed; their messages are handled again',
      );
    }
  }

  async #untilHandled(events: EventMessage[], stop: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#options.queue.deliver(events, stop);
      } catch {
        // KafkaConsumer has logged the error. The slice is tried again unless the member must stop.
        stop.throwIfAborted();
        await pause(backoffMs(attempt, BACKOFF), stop);
      }
    }
  }
}

/** Sends heartbeats while batches are handled, which may take longer than the session timeout. */
class Heartbeats {
  readonly #everyMs: number;
  #busy = 0;
  #timer: NodeJS.Timeout | undefined;
  #lost = new AbortController();

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** The signal aborts, with the reason, when a heartbeat fails: the member has lost its partitions. */
  begin(heartbeat: () => Promise<void>): AbortSignal {
    if (this.#busy === 0) {
      const lost = new AbortController();
      this.#lost = lost;
      // Heartbeats go on after a failure: during a rebalance the member finishes its batch.
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

/** Converts any message; the handler decides whether its bytes are an event. */
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
