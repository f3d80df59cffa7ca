/**
 * The consumer of a service: handles the events of other services, once each by the transactional inbox, handles dead letters
 * again as operators request, compares what was written with what was handled, and keeps the tables of all that.
 */
import type { EventBus } from '@creditlane/events/bus';
import type { EventMessage } from '@creditlane/events/message';
import type { Topic } from '@creditlane/events/topics';
import { startPartitions } from '@creditlane/postgres/partitions/start-partitions';
import { startRetention } from '@creditlane/postgres/retention';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import type { TokenSigner } from '@creditlane/rpc/identity';
import type { Closers } from '@creditlane/runtime/closers';
import { markAppliedDeadLetters, purgeDeadLetters } from './dead-letters/dead-letters.ts';
import { startRedriveWorker } from './dead-letters/redrive-worker.ts';
import { INBOX_PARTITIONS, purgesOfInbox } from './inbox-by-day.ts';
import { purgeDifferences } from './reconciliation/differences.ts';
import { type ReconcilerOptions, sourceAt, startReconciler } from './reconciliation/reconciler.ts';

export interface ConsumerOptions<Publisher extends string>
  extends Pick<ReconcilerOptions, 'pool' | 'log' | 'metrics' | 'findTooFewEffects'> {
  readonly bus: EventBus;
  /** The name of the service, which is that of its consumer group. */
  readonly consumer: string;
  readonly topics: Topic[];
  /** Handles a batch: a handler of `createInboxHandler`. */
  handle(batch: EventMessage[]): Promise<void>;
  /** The services that write the events. */
  readonly publishers: readonly Publisher[];
  readonly endpoints: Readonly<Record<Publisher, Endpoint>>;
  readonly signer: TokenSigner;
  /** Closes the connections to the publishers. */
  readonly closers: Closers;
}

/**
 * Starts the consumer. Over Kafka it joins its group after that, as soon as the cluster and the topics exist. `close` finishes
 * the batch under way.
 */
export async function startConsumer<Publisher extends string>(
  options: ConsumerOptions<Publisher>,
): Promise<{ close(): Promise<void> }> {
  const { bus, consumer, topics, handle, pool, log, metrics } = options;
  const { publishers, endpoints, signer, closers } = options;
  const peers = { endpoints, signer, closers, metrics };
  // Begins before the subscription: rows that come before the partition of their day stay in the default one.
  const tables = [INBOX_PARTITIONS];
  const partitions = startPartitions({ pool, log, metrics, service: consumer, tables });
  const subscription = await bus
    .subscribe({ group: consumer, topics, handle })
    .catch(async (error) => {
      await partitions.close();
      throw error;
    });
  const purges = [...purgesOfInbox, purgeDifferences, markAppliedDeadLetters, purgeDeadLetters];
  const parts = [
    partitions,
    subscription,
    startRedriveWorker({ pool, consumer, handle, log, metrics }),
    startReconciler({
      ...options,
      subscription,
      sources: publishers.map((name) => sourceAt(name, peers)),
    }),
    startRetention({ pool, log, purges }),
  ];
  return {
    async close() {
      await Promise.all(parts.map((part) => part.close()));
    },
  };
}
