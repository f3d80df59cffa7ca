/** The event bus over a Kafka cluster: durable, for all processes, with delivery at least once. */
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import {
  BusClosedError,
  type EventBus,
  PUBLISH_TIMEOUT_MS,
  type SubscribeOptions,
  type Subscription,
} from '../bus.ts';
import type { KafkaConfig } from '../kafka-config.ts';
import { measureLag } from '../lag-gauge.ts';
import { createClient, METADATA_MAX_AGE_MS } from './client.ts';
import { KafkaConsumer } from './consumer.ts';
import { GroupLag } from './group/group-lag.ts';
import { KafkaPublisher } from './publisher.ts';

export interface KafkaBusOptions {
  config: KafkaConfig;
  log: Log;
  metrics: Metrics;
  /**
   * Called when a subscription has ended with an error that no retry can mend, such as a setting that
   * every broker refuses. The process should exit: it would run without consuming.
   */
  onCrash(error: Error): void;
  /** How soon the partitions of a dead member are assigned to others; most clusters require 6 s or more. */
  sessionTimeoutMs?: number;
  lagEveryMs?: number;
  /** The time limit of a publish; see PUBLISH_TIMEOUT_MS. */
  publishTimeoutMs?: number;
  /** See METADATA_MAX_AGE_MS. */
  metadataMaxAgeMs?: number;
}

export interface KafkaBus extends EventBus {
  /**
   * True when every subscription is a member of its group and no publish has failed in the last half minute after which
   * none has succeeded, else what is missing.
   */
  ready(): true | string;
}

/**
 * Creates a bus that connects when it is first used, and again after a lost connection. `subscribe`
 * returns at once and joins its group as soon as the cluster and the topics exist; a new group begins
 * with the oldest message. Only `ensureTopics` creates topics.
 */
export function createKafkaBus(options: KafkaBusOptions): KafkaBus {
  const { config, log, metrics, onCrash, sessionTimeoutMs = 6_000, lagEveryMs = 5_000 } = options;
  const { publishTimeoutMs = PUBLISH_TIMEOUT_MS } = options;
  const { metadataMaxAgeMs = METADATA_MAX_AGE_MS } = options;
  const { prefix } = config;
  const client = createClient(config, log);
  const publisher = new KafkaPublisher({
    createClient: (connect) => createClient(config, log, connect),
    prefix,
    timeoutMs: publishTimeoutMs,
    metadataMaxAgeMs,
  });
  const open = new Map<Subscription, { group: string; consumer: KafkaConsumer; lag: GroupLag }>();
  let closed = false;

  const subscribe = (wanted: SubscribeOptions): Subscription => {
    const { group } = wanted;
    const consumer = new KafkaConsumer({
      ...wanted,
      client,
      prefix,
      sessionTimeoutMs,
      metadataMaxAgeMs,
      log,
      onCrash,
    });
    const topics = wanted.topics.map((topic) => prefix + topic);
    const lag = new GroupLag({ client, group: prefix + group, topics, everyMs: lagEveryMs, log });
    const subscription = {
      handledUntilMs: () => lag.handledUntilMs,
      async close() {
        open.delete(subscription);
        await Promise.all([consumer.close(), lag.close()]);
      },
    };
    open.set(subscription, { group, consumer, lag });
    return subscription;
  };
  measureLag(metrics, () =>
    [...open.values()].map(({ group, lag }) => [group, lag.messages] as const),
  );

  return {
    async publish(messages) {
      if (closed) throw new BusClosedError();
      await publisher.publish(messages);
    },
    async subscribe(wanted) {
      if (closed) throw new BusClosedError();
      return subscribe(wanted);
    },
    ready() {
      const outside = [...open.values()].filter(({ consumer }) => !consumer.isMember);
      const groups = outside.map(({ group }) => group).join(', ');
      const unwritable = publisher.unwritable.join(', ');
      const lacks = [
        ...(outside.length > 0 ? [`not consuming: ${groups}`] : []),
        ...(publisher.isFailing ? ['not publishing'] : []),
        ...(unwritable === '' ? [] : [`not publishing to: ${unwritable}`]),
      ];
      return lacks.length === 0 || lacks.join('; ');
    },
    async close() {
      closed = true;
      await Promise.all([...open.keys()].map((subscription) => subscription.close()));
      await publisher.close();
    },
  };
}
