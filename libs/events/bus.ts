/** The event bus as the services see it; adapters beside this file give it a transport. */
import type { EventMessage } from './message.ts';
import type { Topic } from './topics.ts';

/**
 * Of a publish between processes that has not ended by then nothing goes out any more: it has failed,
 * and what is published again after that comes first. Longer than a broker may take for its answer.
 */
export const PUBLISH_TIMEOUT_MS = 20_000;

export interface EventBus {
  /**
   * Resolves once every message is safe with all who need it; rejects when any may not be. A
   * rejected batch is to be published again whole: consumers tell repeats by `ce_id`.
   */
  publish(messages: EventMessage[]): Promise<void>;
  /** Starts handing the topics' messages to a consumer group. */
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  /** Ends every subscription, after the batches under way. */
  close(): Promise<void>;
}

export interface SubscribeOptions {
  group: string;
  topics: Topic[];
  /**
   * Handles a batch, in order; the next one waits for it. When it rejects, the whole batch comes
   * again, so it must tell repeats itself (see the inbox of @creditlane/postgres).
   */
  handle(batch: EventMessage[]): Promise<void>;
}

export interface Subscription {
  /** No further batch is handed out until `resume`. */
  pause(): void;
  resume(): void;
  /** How many messages wait for this group, as far as is known. */
  lag(): number;
  /** Resolves after the batch under way. */
  close(): Promise<void>;
}

/** The bus was closed before the messages were handled. */
export class BusClosedError extends Error {
  override name = 'BusClosedError';
  readonly loggable = true;
  override message = 'the event bus is closed';
}
