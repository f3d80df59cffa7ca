/** The consuming side of the Kafka bus: one subscription, which is a member of its consumer group. */
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { pause } from '@creditlane/runtime/concurrency/pause';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Kafka } from 'kafkajs';
import { BatchQueue } from '../batch-queue.ts';
import { BusClosedError, type SubscribeOptions } from '../bus.ts';
import {
  CLIENT_RETRY,
  isAccessRefused,
  isCoordinatorLoading,
  isRetriable,
  KafkaError,
} from './client.ts';
import { GroupMember } from './group/group-member.ts';

/** How long a rebalance waits for a member that is handling a batch. */
const REBALANCE_TIMEOUT_MS = 20_000;
/** The limit of one fetch from a broker, and so about the memory used for each broker. */
const MAX_FETCH_BYTES = 4_000_000;
const MAX_PARTITION_BYTES = 500_000;
/** How long a fetch waits for a message. Closing waits as long for a fetch without messages. */
const IDLE_FETCH_MS = 500;
/** More than a member ever has, so that all messages of a fetch are handled concurrently. */
const PARTITIONS_AT_ONCE = 100;
const RESTART = { baseMs: 200, capMs: 5_000 };
/** Attempts to join that a new cluster may refuse: its coordinator loads for one or two seconds. */
const EXPECTED_FAILURES = 5;

export interface KafkaConsumerOptions extends SubscribeOptions {
  client: Kafka;
  prefix: string;
  /** The cluster takes a member without a heartbeat for this long as dead and reassigns its partitions. */
  sessionTimeoutMs: number;
  metadataMaxAgeMs: number;
  log: Log;
  /** Called when consuming has ended with an error that no retry can mend. */
  onCrash(error: Error): void;
}

export class KafkaConsumer {
  readonly #options: KafkaConsumerOptions;
  readonly #queue: BatchQueue;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #isMember = false;

  /** Starts at once; joins the group as soon as the cluster and the topics exist. */
  constructor(options: KafkaConsumerOptions) {
    this.#options = options;
    this.#queue = new BatchQueue(options.group);
    this.#queue.subscribe({ ...options, handle: (batch) => this.#handle(batch) });
    this.#running = this.#run();
  }

  /** Whether the consumer has joined the group and has not left it since. */
  get isMember(): boolean {
    return this.#isMember;
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
      log.warn(
        { err, group, messages: batch.length },
        'a batch could not be handled; the consumer tries again',
      );
      throw err;
    }
  }

  async #run(): Promise<void> {
    const { group, log, onCrash } = this.#options;
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      const { error, joined } = await this.#consume();
      if (this.#stop.signal.aborted) return;
      const err = new KafkaError('consuming has ended', error);
      if (!isRetriable(error) && !isAccessRefused(error)) {
        log.error({ err, group }, 'consuming has ended with an error that no retry can mend');
        return onCrash(err);
      }
      failures = joined ? 1 : failures + 1;
      const isExpected = failures <= EXPECTED_FAILURES && !joined && isCoordinatorLoading(error);
      log[isExpected ? 'debug' : 'warn'](
        { err, group, failures },
        'consuming was interrupted; the consumer joins its group again',
      );
      await pause(backoffMs(failures, RESTART), this.#stop.signal);
    }
  }

  /** Joins the group and consumes until an error or `close`. Each try has a consumer without old state. */
  async #consume(): Promise<{ error?: unknown; joined: boolean }> {
    const { client, group, topics, prefix, sessionTimeoutMs, metadataMaxAgeMs, log } =
      this.#options;
    const heartbeatMs = Math.floor(sessionTimeoutMs / 4);
    const { signal: stop } = this.#stop;
    const member = new GroupMember({ queue: this.#queue, prefix, heartbeatMs, stop, log });
    const consumer = client.consumer({
      groupId: prefix + group,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: REBALANCE_TIMEOUT_MS,
      heartbeatInterval: heartbeatMs,
      metadataMaxAge: metadataMaxAgeMs,
      maxBytes: MAX_FETCH_BYTES,
      maxBytesPerPartition: MAX_PARTITION_BYTES,
      maxWaitTimeInMs: IDLE_FETCH_MS,
      allowAutoTopicCreation: false,
      retry: { ...CLIENT_RETRY, restartOnFailure: async () => false },
    });
    let joined = false;
    const ended = Promise.withResolvers<unknown>();
    const onStop = () => ended.resolve(undefined);
    consumer.on('consumer.crash', ({ payload }) => ended.resolve(payload.error));
    consumer.on('consumer.rebalancing', () => member.rebalancing());
    consumer.on('consumer.group_join', () => {
      member.joined();
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
        // GroupMember commits the offsets after the handler.
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
        eachBatch: (payload) => member.eachBatch(payload),
      });
      stop.addEventListener('abort', onStop);
      if (stop.aborted) onStop();
      return { error: await ended.promise, joined };
    } catch (error) {
      return { error, joined };
    } finally {
      stop.removeEventListener('abort', onStop);
      this.#isMember = false;
      await member.close();
      await consumer.disconnect().catch((err: unknown) => {
        log.warn(
          { err, group },
          'the consumer could not leave its group; the group notices after the session timeout',
        );
      });
    }
  }
}
