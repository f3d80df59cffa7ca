/** The event bus: the port that services use. in-process-bus.ts and kafka/bus.ts are its adapters. */
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import type { EventMessage } from './message.ts';
import type { Topic } from './topics.ts';

/**
 * The time limit of a publish over Kafka. A publish that exceeds it fails, and none of its messages is
 * sent afterwards, so that no old message arrives after messages that were published later. Longer than
 * a broker may take to answer.
 */
export const PUBLISH_TIMEOUT_MS = 20_000;

export interface EventBus {
  /**
   * Resolves once no message can be lost any more; rejects when one may be. The caller publishes a
   * rejected batch again as a whole, or the messages that a `PartlyPublishedError` names: consumers
   * recognise repeated messages by `ce_id`.
   */
  publish(messages: EventMessage[]): Promise<void>;
  /** Starts to deliver the topics' messages to a consumer group. */
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  /** Ends every subscription after the batches under way. */
  close(): Promise<void>;
}

export interface SubscribeOptions {
  group: string;
  topics: Topic[];
  /**
   * Handles one batch; the next batch waits for it. When `handle` rejects, the whole batch is
   * delivered again, so `handle` must recognise repeated messages: see
   * @creditlane/messaging/transactional-inbox.
   */
  handle(batch: EventMessage[]): Promise<void>;
}

export interface Subscription {
  /**
   * A time, by performance.now(): the group has handled every message that was on the bus then. Over Kafka it is
   * about five to ten seconds ago while the group keeps up, and stands still while it is behind.
   */
  handledUntilMs(): number;
  /** Resolves after the batch under way. */
  close(): Promise<void>;
}

/** The bus was closed before it had delivered the messages. */
export class BusClosedError extends LoggableError {
  override message = 'the event bus is closed';
}

/** A partition that cannot be written at the moment, or one key of it. */
export interface UnwritablePartition {
  topic: string;
  partition: number;
  /** Set when the events of this key alone cannot be written: the first one is larger than the topic permits. */
  key?: string;
  /** Whether a message of a later publish belongs to this partition. */
  includes(message: EventMessage): boolean;
  /** Its messages of this publish; `includes` may differ from them once the topic has more partitions. */
  failed: readonly EventMessage[];
  /** Why its messages were not published. */
  cause: Error;
}

/** All messages are published, except the `failed` ones of these partitions. */
export class PartlyPublishedError extends LoggableError {
  readonly partitions: readonly UnwritablePartition[];

  constructor(partitions: readonly UnwritablePartition[]) {
    super(partitions.map(({ cause }) => cause.message).join('; '), { cause: partitions[0]?.cause });
    this.partitions = partitions;
  }
}
