/** The consuming side of Kafka: one subscription, a member of its group for as long as it lives. */
import { once } from 'node:events';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Kafka } from 'kafkajs';
import { BusClosedError, type SubscribeOptions } from '../bus.ts';
import { ConsumerGroup } from '../consumer-group.ts';
import { CLIENT_RETRY, isAccessRefused, isRetriable, KafkaError } from './client.ts';
import { Membership } from './group-member.ts';

/** How long the others wait in a change of members for one that is handling a batch. */
const REBALANCE_TIMEOUT_MS = 20_000;
/** What a broker may send at once, and so about what is held in memory for each of them. */
const MAX_FETCH_BYTES = 4_000_000;
const MAX_PARTITION_BYTES = 500_000;
/** A fetch is answered at once when there is anything; closing waits for an idle one this long. */
const IDLE_FETCH_MS = 500;
/** More than a member is ever given: what one fetch brings is handed out together. */
const PARTITIONS_AT_ONCE = 100;
const RESTART = { baseMs: 200, capMs: 5_000 };

export interface KafkaConsumerOptions extends SubscribeOptions {
  client: Kafka;
  prefix: string;
  /** A member not heard of for this long has died; its partitions go to the others. */
  sessionTimeoutMs: number;
  log: Log;
  /** Consuming has ended for a reason that no waiting mends. */
  onCrash(error: Error): void;
}

export class KafkaConsumer {
  readonly #options: KafkaConsumerOptions;
  readonly #queue: ConsumerGroup;
  readonly #subscription: ReturnType<ConsumerGroup['subscribe']>;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #isMember = false;

  /** Begins at once; it joins as soon as the cluster and the topics are there. */
  constructor(options: KafkaConsumerOptions) {
    this.#options = options;
    this.#queue = new ConsumerGroup(options.group);
    this.#subscription = this.#queue.subscribe({
      ...options,
      handle: (batch) => this.#handle(batch),
    });
    this.#running = this.#run();
  }

  /** Whether it has joined the group and was not thrown out since. */
  get isMember(): boolean {
    return this.#isMember;
  }

  pause(): void {
    this.#subscription.pause();
  }

  resume(): void {
    this.#subscription.resume();
  }

  /** Finishes and commits the batch under way and leaves the group. */
  async close(): Promise<void> {
    this.#stop.abort(new BusClosedError());
    await this.#queue.close();
    await this.#running;
  }

  async #handle(batch: Parameters<SubscribeOptions['handle']>[0]): Promise<void> {
    const { group, log, handle } = this.#options;
    try {
      await handle(batch);
    } catch (err) {
      log.warn({ err, group, messages: batch.length }, 'a batch was not handled; tried again');
      throw err;
    }
  }

  async #run(): Promise<void> {
    const { group, log, onCrash } = this.#options;
    const pause = new WakeSignal();
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      const { error, joined } = await this.#beMember();
      if (this.#stop.signal.aborted) return;
      const err = new KafkaError('consuming has ended', error);
      if (!isRetriable(error) && !isAccessRefused(error)) {
        log.error({ err, group }, 'consuming has ended for good');
        return onCrash(err);
      }
      failures = joined ? 1 : failures + 1;
      log.warn({ err, group, failures }, 'not consuming; joining again');
      await pause.wait(backoffMs(failures, RESTART), this.#stop.signal);
    }
  }

  /** Joins and consumes until it fails or is told to stop; a new client each time knows no old tales. */
  async #beMember(): Promise<{ error?: unknown; joined: boolean }> {
    const { client, group, topics, prefix, sessionTimeoutMs, log } = this.#options;
    const heartbeatMs = Math.floor(sessionTimeoutMs / 4);
    const { signal: stop } = this.#stop;
    const membership = new Membership({ queue: this.#queue, prefix, heartbeatMs, stop });
    const consumer = client.consumer({
      groupId: prefix + group,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: REBALANCE_TIMEOUT_MS,
      heartbeatInterval: heartbeatMs,
      maxBytes: MAX_FETCH_BYTES,
      maxBytesPerPartition: MAX_PARTITION_BYTES,
      maxWaitTimeInMs: IDLE_FETCH_MS,
      allowAutoTopicCreation: false,
      retry: { ...CLIENT_RETRY, restartOnFailure: async () => false },
    });
    let joined = false;
    const crash = Promise.withResolvers<unknown>();
    consumer.on('consumer.crash', ({ payload }) => crash.resolve(payload.error));
    consumer.on('consumer.group_join', () => {
      membership.joined();
      joined = true;
      this.#isMember = true;
    });
    try {
      await consumer.connect();
      await consumer.subscribe({
        topics: topics.map((topic) => prefix + topic),
        fromBeginning: true,
      });
      await consumer.run({
        // Offsets are committed by us, after the handler; see Membership.
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
        eachBatch: (payload) => membership.eachBatch(payload),
      });
      const stopped = stop.aborted ? undefined : once(stop, 'abort').then(() => undefined);
      return { error: await Promise.race([crash.promise, stopped]), joined };
    } catch (error) {
      return { error, joined };
    } finally {
      this.#isMember = false;
      await consumer.disconnect().catch((err: unknown) => {
        log.warn({ err, group }, 'the group was not left in order; it notices by itself');
      });
    }
  }
}
