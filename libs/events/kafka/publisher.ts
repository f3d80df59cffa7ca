/** The publishing side of Kafka. */
import { withTimeLimit } from '@creditlane/runtime/concurrency/time-limit';
import { type ISocketFactory, type Kafka, Partitioners, type Producer } from 'kafkajs';
import type { EventMessage } from '../message.ts';
import { CLIENT_RETRY, KafkaError } from './client.ts';
import { ProducerConnections } from './producer-connections.ts';

const ACKS_FROM_ALL = -1;
const ACKS_WITHIN_MS = 10_000;
/** Below a broker's limit for the messages that one request brings to a partition (1 MiB). */
const MAX_REQUEST_BYTES = 900_000;
/** What a message takes beside its key, value and headers; more than it needs. */
const OVERHEAD_BYTES = 100;

/** A producer, which may still be connecting, and the connections that are its alone. */
interface Line {
  producer: Promise<Producer>;
  connections: ProducerConnections;
}

export class KafkaPublisher {
  readonly #open: (connect: ISocketFactory) => Kafka;
  readonly #prefix: string;
  readonly #withinMs: number;
  #line: Line | undefined;
  readonly #underWay = new Set<Promise<void>>();
  #isFailing = false;

  /** `open` makes a client whose connections are made by what it is given. */
  constructor(open: (connect: ISocketFactory) => Kafka, prefix: string, withinMs: number) {
    this.#open = open;
    this.#prefix = prefix;
    this.#withinMs = withinMs;
  }

  /** Whether the last publish that has ended was in vain. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /**
   * Resolves once all in-sync replicas have every message. Messages of one key keep their order,
   * also from publish to publish if each is awaited before the next. Rejects in time, and then
   * nothing more of it is sent.
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

  /** After the publishes under way. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    const producer = await this.#line?.producer;
    await producer?.disconnect();
  }

  async #publish(messages: EventMessage[]): Promise<void> {
    this.#line ??= this.#connect();
    const line = this.#line;
    try {
      const makeError = () => new KafkaError(`it took longer than ${this.#withinMs} ms`, undefined);
      await withTimeLimit(this.#sendAll(line, messages), { limitMs: this.#withinMs, makeError });
      this.#isFailing = false;
    } catch (cause) {
      this.#isFailing = true;
      // What it knows of the cluster may be why it failed, and it may not learn better for minutes.
      if (this.#line === line) this.#line = undefined;
      line.connections.cut();
      // It has failed us; how it ends changes nothing.
      line.producer.then((producer) => producer.disconnect()).catch(() => undefined);
      throw new KafkaError('events could not be published', cause);
    }
  }

  async #sendAll({ producer }: Line, messages: EventMessage[]): Promise<void> {
    const connected = await producer;
    for (const request of split(messages)) await this.#send(connected, request);
  }

  #connect(): Line {
    const connections = new ProducerConnections();
    const producer = this.#open(connections.connect).producer({
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      // The library's own retry forgets messages whose partition has meanwhile moved to a broker
      // that already answered for others. A publish that failed is repeated whole by its caller.
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

/** Requests that no broker finds too large; a message that alone is too large goes by itself. */
function* split(messages: EventMessage[]): Generator<EventMessage[]> {
  let request: EventMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = sizeOf(message);
    if (request.length > 0 && bytes + size > MAX_REQUEST_BYTES) {
      yield request;
      request = [];
      bytes = 0;
    }
    request.push(message);
    bytes += size;
  }
  if (request.length > 0) yield request;
}

function sizeOf({ key, headers, value }: EventMessage): number {
  const text = Object.entries(headers).reduce(
    (sum, [name, it]) => sum + name.length + it.length,
    0,
  );
  // Characters of text may take three bytes.
  return OVERHEAD_BYTES + value.byteLength + 3 * (key.length + text);
}
