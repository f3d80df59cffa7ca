/** The publishing side of the Kafka bus. */
import { withTimeLimit } from '@creditlane/runtime/concurrency/time-limit';
import type { ISocketFactory, Kafka, Producer } from 'kafkajs';
import { PartlyPublishedError, type UnwritablePartition } from '../bus.ts';
import { bytesOf, type EventMessage, split } from '../message.ts';
import { CLIENT_RETRY, isTooLarge, KafkaError } from './client.ts';
import { KeyPartitions, type PartitionMessages } from './key-partitions.ts';
import { ProducerConnections } from './producer-connections.ts';

const ACKS_FROM_ALL = -1;
const ACKS_WITHIN_MS = 10_000;
/** Below a broker's default limit for the messages of one request to one partition (1 MiB). */
const MAX_REQUEST_BYTES = 900_000;
/** A failure counts this long: the relay tries again sooner, unless it has left the events to another relay. */
const FAILURE_COUNTS_MS = 30_000;

/** A producer, which may still be connecting, and its own connections. */
interface OpenProducer {
  producer: Promise<Producer>;
  connections: ProducerConnections;
}

/** A message that is too large by itself, and Kafka's answer. */
interface RefusedMessage {
  message: EventMessage;
  cause: unknown;
}

export interface KafkaPublisherOptions {
  /** Returns a client whose connections are made by the given socket factory. */
  createClient(connect: ISocketFactory): Kafka;
  prefix: string;
  /** The time limit of a publish. */
  timeoutMs: number;
  metadataMaxAgeMs: number;
}

export class KafkaPublisher {
  readonly #options: KafkaPublisherOptions;
  #open: OpenProducer | undefined;
  readonly #underWay = new Set<Promise<void>>();
  readonly #partitions: KeyPartitions;
  /** When a publish to the partition failed last, by `topic partition`. */
  readonly #unwritableMs = new Map<string, number>();
  /** When the last publish has failed; undefined after one that succeeded. */
  #failedMs: number | undefined;
  /** 'each alone' after a publish that got no answer in time: the next one finds out which partitions are the reason. */
  #nextSends: 'together' | 'each alone' = 'together';
  /** Half of the smallest request that was too large: more than half of the topic's limit. Until the process ends. */
  #maxRequestBytes = MAX_REQUEST_BYTES;

  constructor(options: KafkaPublisherOptions) {
    this.#options = options;
    this.#partitions = new KeyPartitions(options.prefix);
  }

  /** Whether the last publish that has ended failed, in the last half minute. */
  get isFailing(): boolean {
    return this.#failedMs !== undefined && isRecent(this.#failedMs);
  }

  /** The partitions whose messages could not be published last, as `topic partition`. */
  get unwritable(): string[] {
    return [...this.#unwritableMs].flatMap(([name, atMs]) => (isRecent(atMs) ? [name] : []));
  }

  /**
   * Resolves once all in-sync replicas have every message. Messages of one key keep their order, also
   * over several calls when each is awaited before the next. Rejects with `PartlyPublishedError` when only
   * some partitions cannot be written, or some keys, and otherwise with `KafkaError`, after the time limit at the latest;
   * then no message of the call is sent any more. What is too large for one request is sent in several.
   */
  async publish(messages: EventMessage[]): Promise<void> {
    const publishing = this.#publish(messages);
    this.#underWay.add(publishing);
    try {
      await publishing;
    } finally {
      this.#underWay.delete(publishing);
    }
  }

  /** Disconnects after the publishes under way. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    const producer = await this.#open?.producer;
    await producer?.disconnect();
  }

  async #publish(messages: EventMessage[]): Promise<void> {
    const deadlineMs = performance.now() + this.#options.timeoutMs;
    const sendsEachAlone = this.#nextSends === 'each alone';
    this.#nextSends = 'together';
    const alone = sendsEachAlone
      ? (this.#partitions.split(messages) ?? [])
      : this.#ofUnwritable(messages);
    const sentAlone = new Set(alone.flatMap((group) => group.messages));
    const others = messages.filter((message) => !sentAlone.has(message));
    const outcomes = await Promise.allSettled([
      this.#publishTogether(others, deadlineMs),
      this.#publishEach(alone, deadlineMs),
    ]);
    const unwritable = outcomes.flatMap((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
    this.#failedMs = undefined;
    if (unwritable.length > 0) throw new PartlyPublishedError(unwritable);
  }

  /** The messages of partitions that could not be written: what is sent with them would fail as well. */
  #ofUnwritable(messages: EventMessage[]): PartitionMessages[] {
    const names = new Set(this.unwritable);
    if (names.size === 0) return [];
    const groups = this.#partitions.split(messages) ?? [];
    return groups.filter((group) => names.has(nameOf(group)));
  }

  /** Sends the messages in as few requests as possible. When that fails, sends those of each partition alone. */
  async #publishTogether(
    messages: EventMessage[],
    deadlineMs: number,
  ): Promise<UnwritablePartition[]> {
    if (messages.length === 0) return [];
    this.#open ??= this.#connect();
    const open = this.#open;
    try {
      await this.#before(deadlineMs, this.#sendAll(open, messages));
      return [];
    } catch (cause) {
      // A new producer for the next publish: outdated metadata, which a producer keeps for minutes, may
      // be the cause of the failure.
      if (this.#open === open) this.#open = undefined;
      abandon(open);
      // Once half of the time is over, too little is left for the partitions: the next publish begins with them.
      const isLate = performance.now() > deadlineMs - this.#options.timeoutMs / 2;
      if (isLate) this.#nextSends = 'each alone';
      const groups = isLate ? undefined : this.#partitions.split(messages);
      if (groups === undefined) throw this.#failed(cause);
      return await this.#publishEach(groups, deadlineMs);
    }
  }

  /**
   * Sends the messages of each partition in requests of their own, over connections of their own: cutting those
   * does not end other publishes. Rejects when no broker can be reached.
   */
  async #publishEach(
    groups: PartitionMessages[],
    deadlineMs: number,
  ): Promise<UnwritablePartition[]> {
    if (groups.length === 0) return [];
    const open = this.#connect();
    try {
      await this.#before(deadlineMs, open.producer);
    } catch (cause) {
      abandon(open);
      throw this.#failed(cause);
    }
    const outcomes = await Promise.allSettled(
      groups.map(({ messages }) => this.#before(deadlineMs, this.#sendInParts(open, messages))),
    );
    abandon(open);
    return groups.flatMap((group, index) => {
      const outcome = outcomes[index];
      if (outcome?.status === 'rejected') return [this.#unwritablePartition(group, outcome.reason)];
      this.#unwritableMs.delete(nameOf(group));
      return [...(outcome?.value.values() ?? [])].map((refused) => unwritableKey(group, refused));
    });
  }

  #unwritablePartition(group: PartitionMessages, reason: unknown): UnwritablePartition {
    const { topic, partition } = group;
    this.#unwritableMs.set(nameOf(group), performance.now());
    const includes = (message: EventMessage) =>
      message.topic === topic && this.#partitions.partitionOf(message) === partition;
    const cause = new KafkaError(`${nameOf(group)} cannot be written`, reason);
    return { topic, partition, includes, failed: group.messages, cause };
  }

  #before<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
    const makeError = () =>
      new KafkaError(`no answer within ${this.#options.timeoutMs} ms`, undefined);
    return withTimeLimit(work, {
      limitMs: Math.max(0, deadlineMs - performance.now()),
      makeError,
    });
  }

  #failed(cause: unknown): KafkaError {
    this.#failedMs = performance.now();
    return new KafkaError('events could not be published', cause);
  }

  async #sendAll({ producer }: OpenProducer, messages: EventMessage[]): Promise<void> {
    const connected = await producer;
    for (const request of split(messages, { maxBytes: this.#maxRequestBytes }))
      await this.#send(connected, request);
  }

  /**
   * Sends the messages of one partition, in their order. A request that is too large is halved until each message is alone. Resolves
   * to the keys that have a message which is too large alone. None of the later messages of such a key is sent.
   */
  async #sendInParts(
    { producer }: OpenProducer,
    messages: readonly EventMessage[],
  ): Promise<Map<string, RefusedMessage>> {
    const connected = await producer;
    const refused = new Map<string, RefusedMessage>();
    const send = async (part: readonly EventMessage[]): Promise<void> => {
      for (const request of split(part, { maxBytes: this.#maxRequestBytes })) {
        const sendable = request.filter(({ key }) => !refused.has(key));
        const [first] = sendable;
        if (first === undefined) continue;
        try {
          await this.#send(connected, sendable);
        } catch (cause) {
          if (!isTooLarge(cause)) throw cause;
          if (sendable.length === 1) {
            refused.set(first.key, { message: first, cause });
          } else {
            this.#maxRequestBytes = Math.min(this.#maxRequestBytes, bytesOf(sendable) / 2);
            await send(sendable);
          }
        }
      }
    };
    await send(messages);
    return refused;
  }

  #connect(): OpenProducer {
    const connections = new ProducerConnections();
    const producer = this.#options.createClient(connections.connect).producer({
      allowAutoTopicCreation: false,
      metadataMaxAge: this.#options.metadataMaxAgeMs,
      createPartitioner: this.#partitions.createPartitioner,
      // No retries by kafkajs: its retry loses messages whose partition has moved to a broker that has
      // already answered for other messages. The caller repeats a failed publish as a whole.
      retry: { ...CLIENT_RETRY, retries: 0 },
    });
    return { producer: producer.connect().then(() => producer), connections };
  }

  async #send(producer: Producer, messages: EventMessage[]): Promise<void> {
    const topics = Map.groupBy(messages, ({ topic }) => topic);
    await producer.sendBatch({
      acks: ACKS_FROM_ALL,
      timeout: ACKS_WITHIN_MS,
      topicMessages: [...topics].map(([topic, ofTopic]) => ({
        topic: this.#options.prefix + topic,
        messages: ofTopic.map(({ key, headers, value }) => ({
          key,
          headers,
          value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
        })),
      })),
    });
  }
}

/** What was sent before the refused message is published; those of its key behind it are not. */
function unwritableKey(
  { topic, partition, messages }: PartitionMessages,
  { message: refused, cause: reason }: RefusedMessage,
): UnwritablePartition {
  const { key, value } = refused;
  const includes = (message: EventMessage) => message.topic === topic && message.key === key;
  const failed = messages.slice(messages.indexOf(refused)).filter(includes);
  const what = `an event of ${value.byteLength} bytes is larger than ${topic} permits`;
  return { topic, partition, key, includes, failed, cause: new KafkaError(what, reason) };
}

/** Ends the connections; what was not sent is never sent. */
function abandon({ producer, connections }: OpenProducer): void {
  connections.cut();
  // The error to report is the publish's, not one of disconnecting.
  producer.then((connected) => connected.disconnect()).catch(() => undefined);
}

function isRecent(failedMs: number): boolean {
  return performance.now() - failedMs < FAILURE_COUNTS_MS;
}

function nameOf({ topic, partition }: PartitionMessages): string {
  return `${topic} ${partition}`;
}
