/** The publishing side of the Kafka bus. */
import { withTimeLimit } from '@creditlane/runtime/concurrency/time-limit';
import { type ISocketFactory, type Kafka, Partitioners, type Producer } from 'kafkajs';
import { type EventMessage, split } from '../message.ts';
import { CLIENT_RETRY, KafkaError } from './client.ts';
import { ProducerConnections } from './producer-connections.ts';

const ACKS_FROM_ALL = -1;
const ACKS_WITHIN_MS = 10_000;
/** Below a broker's limit for the messages of one request to one partition (1 MiB). */
const MAX_REQUEST_BYTES = 900_000;

/** A producer, which may still be connecting, and its own connections. */
interface OpenProducer {
  producer: Promise<Producer>;
  connections: ProducerConnections;
}

export class KafkaPublisher {
  readonly #createClient: (connect: ISocketFactory) => Kafka;
  readonly #prefix: string;
  readonly #timeoutMs: number;
  #open: OpenProducer | undefined;
  readonly #underWay = new Set<Promise<void>>();
  #isFailing = false;

  /** `createClient` returns a client whose connections are made by the given socket factory. */
  constructor(createClient: (connect: ISocketFactory) => Kafka, prefix: string, timeoutMs: number) {
    this.#createClient = createClient;
    this.#prefix = prefix;
    this.#timeoutMs = timeoutMs;
  }

  /** Whether the last publish that has ended failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /**
   * Resolves once all in-sync replicas have every message. Messages of one key keep their order, also
   * over several calls when each is awaited before the next. Rejects with `KafkaError` after the time
   * limit at the latest; then no message of the call is sent any more.
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
    this.#open ??= this.#connect();
    const open = this.#open;
    try {
      const makeError = () => new KafkaError(`no answer within ${this.#timeoutMs} ms`, undefined);
      await withTimeLimit(this.#sendAll(open, messages), { limitMs: this.#timeoutMs, makeError });
      this.#isFailing = false;
    } catch (cause) {
      this.#isFailing = true;
      // A new producer for the next publish: outdated metadata, which a producer keeps for minutes, may
      // be the cause of the failure.
      if (this.#open === open) this.#open = undefined;
      open.connections.cut();
      // The error to report is the publish's, not one of disconnecting.
      open.producer.then((producer) => producer.disconnect()).catch(() => undefined);
      throw new KafkaError('events could not be published', cause);
    }
  }

  async #sendAll({ producer }: OpenProducer, messages: EventMessage[]): Promise<void> {
    const connected = await producer;
    for (const request of split(messages, { maxBytes: MAX_REQUEST_BYTES }))
      await this.#send(connected, request);
  }

  #connect(): OpenProducer {
    const connections = new ProducerConnections();
    const producer = this.#createClient(connections.connect).producer({
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
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
        topic: this.#prefix + topic,
        messages: ofTopic.map(({ key, headers, value }) => ({
          key,
          headers,
          value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
        })),
      })),
    });
  }
}
