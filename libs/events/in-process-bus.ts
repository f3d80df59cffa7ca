/**
 * The event bus within one process. It stores no messages: a publish lasts until every consumer group
 * has handled them. So the outbox marks an event only after that, and a crash loses no event.
 */
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { BatchQueue } from './batch-queue.ts';
import { BusClosedError, type EventBus, type SubscribeOptions, type Subscription } from './bus.ts';
import { measureLag } from './lag-gauge.ts';
import { copyMessage, type EventMessage } from './message.ts';

export interface InProcessBusOptions {
  /** By topic, the groups that must have handled each message before it counts as published. */
  consumers: Readonly<Record<string, readonly string[]>>;
  metrics?: Metrics;
}

/**
 * Creates a bus whose `publish` waits until every group declared for the topic has subscribed and has
 * handled the messages, all groups at the same time. A group cannot subscribe to a topic that it is not declared for.
 */
export function createInProcessBus({ consumers, metrics }: InProcessBusOptions): EventBus {
  /** By the name of the group. */
  const queues = new Map(
    Object.values(consumers)
      .flat()
      .map((group) => [group, new BatchQueue(group)]),
  );
  let closed = false;

  if (metrics)
    measureLag(metrics, () => [...queues].map(([group, { lag }]) => [group, lag] as const));

  const receivers = (topic: string): BatchQueue[] => {
    const declared = consumers[topic];
    if (!declared) throw new Error(`topic ${topic} is not declared`);
    return [...queues.values()].filter(({ group }) => declared.includes(group));
  };

  return {
    async publish(messages) {
      if (closed) throw new BusClosedError();
      const batches = new Map<BatchQueue, EventMessage[]>();
      for (const message of messages) {
        for (const queue of receivers(message.topic)) {
          const batch = batches.get(queue);
          if (batch) batch.push(copyMessage(message));
          else batches.set(queue, [copyMessage(message)]);
        }
      }
      const outcomes = await Promise.allSettled(
        [...batches].map(([queue, batch]) => queue.deliver(batch)),
      );
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed) throw failed.reason;
    },

    async subscribe(options: SubscribeOptions): Promise<Subscription> {
      if (closed) throw new BusClosedError();
      const queue = queues.get(options.group);
      if (!queue) throw new Error(`consumer group ${options.group} is not declared`);
      const stray = options.topics.find((topic) => !consumers[topic]?.includes(options.group));
      if (stray !== undefined) {
        throw new Error(`consumer group ${options.group} is not declared for topic ${stray}`);
      }
      return queue.subscribe(options);
    },

    async close() {
      closed = true;
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}
