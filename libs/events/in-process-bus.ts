/**
 * The event bus within one process. It stores no messages: a publish lasts until every consumer group
 * has handled them. So the outbox marks an event only after that, and a crash loses no event.
 */
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { BusClosedError, type EventBus, type SubscribeOptions, type Subscription } from './bus.ts';
import { ConsumerGroup } from './consumer-group.ts';
import { measureLag } from './lag-gauge.ts';
import { copyMessage, type EventMessage } from './message.ts';

export interface InProcessBusOptions {
  /** By topic, the groups that must have handled each message before it counts as published. */
  consumers: Readonly<Record<string, readonly string[]>>;
  metrics?: Metrics;
}

/**
 * Creates a bus whose `publish` waits until every group declared for the topic has subscribed and has
 * handled the messages, all groups at the same time. Groups that are not declared get them as well.
 */
export function createInProcessBus({ consumers, metrics }: InProcessBusOptions): EventBus {
  const groups = new Map<string, ConsumerGroup>();
  let closed = false;

  const groupNamed = (name: string): ConsumerGroup => {
    const group = groups.get(name) ?? new ConsumerGroup(name);
    groups.set(name, group);
    return group;
  };
  for (const names of Object.values(consumers)) names.forEach(groupNamed);

  if (metrics)
    measureLag(metrics, () => [...groups].map(([name, { lag }]) => [name, lag] as const));

  const receivers = (topic: string): ConsumerGroup[] => {
    const declared = consumers[topic];
    if (!declared) throw new Error(`topic ${topic} is not declared`);
    return [...groups.values()].filter(
      (group) => declared.includes(group.name) || group.isSubscribedTo(topic),
    );
  };

  return {
    async publish(messages) {
      if (closed) throw new BusClosedError();
      const batches = new Map<ConsumerGroup, EventMessage[]>();
      for (const message of messages) {
        for (const group of receivers(message.topic)) {
          const batch = batches.get(group);
          if (batch) batch.push(copyMessage(message));
          else batches.set(group, [copyMessage(message)]);
        }
      }
      const outcomes = await Promise.allSettled(
        [...batches].map(([group, batch]) => group.deliver(batch)),
      );
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed) throw failed.reason;
    },

    async subscribe(options: SubscribeOptions): Promise<Subscription> {
      if (closed) throw new BusClosedError();
      return groupNamed(options.group).subscribe(options);
    },

    async close() {
      closed = true;
      await Promise.all([...groups.values()].map((group) => group.close()));
    },
  };
}
