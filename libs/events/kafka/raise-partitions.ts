/** Raises the number of a topic's partitions while nothing is published to it, so that no event overtakes another of its key. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import type { Admin } from 'kafkajs';
import type { KafkaConfig } from '../kafka-config.ts';
import type { Topic } from '../topics.ts';
import { repeatWhileRetriable, withAdmin } from './admin.ts';
import { METADATA_MAX_AGE_MS } from './client.ts';

const POLL_MS = 200;
/** How long the leaders of all partitions may be unknown: longer than the 15 s after which a request is given up. */
const LEADERS_WITHIN_MS = 60_000;

export class RaisePartitionsError extends LoggableError {}

export interface RaisePartitionsOptions {
  /** With the credentials of a user who may change topics and read the offsets of all groups. */
  config: KafkaConfig;
  topic: Topic;
  partitions: number;
  /** How long the groups may take to handle what is on the topic. */
  handledWithinMs: number;
  /** How long producers and consumers may know the earlier number of partitions. */
  metadataMaxAgeMs?: number;
  log: Log;
}

/** The ends of a topic's partitions, by their numbers. */
type Ends = Map<number, { low: number; high: number }>;

/**
 * Waits until each group has committed all messages of the topic, adds the partitions, and resolves once every producer
 * knows them. Throws `RaisePartitionsError` when the topic has as many partitions already, when groups do not handle its
 * messages in time, or when messages were published meanwhile.
 */
export async function raisePartitions(options: RaisePartitionsOptions): Promise<void> {
  const { config, topic: name, partitions, log } = options;
  const { metadataMaxAgeMs = METADATA_MAX_AGE_MS } = options;
  const topic = config.prefix + name;
  const what = 'the partitions could not be raised';
  await withAdmin(config, log, what, async (admin) => {
    const before = await readEnds(admin, topic);
    if (partitions <= before.size) {
      throw new RaisePartitionsError(`${topic} has ${before.size} partitions already`);
    }
    await untilHandled(admin, topic, options);
    await assertNothingPublished(admin, topic, before);
    await admin.createPartitions({ topicPartitions: [{ topic, count: partitions }] });
    log.info({ topic, partitions }, 'partitions added; waiting until every producer knows them');
    await delay(2 * metadataMaxAgeMs);
    await assertNothingPublished(admin, topic, before);
  });
}

async function untilHandled(
  admin: Admin,
  topic: string,
  { config, handledWithinMs }: RaisePartitionsOptions,
): Promise<void> {
  const deadlineMs = performance.now() + handledWithinMs;
  for (;;) {
    const behind = await groupsBehind(admin, topic, config.prefix);
    if (behind.length === 0) return;
    if (performance.now() > deadlineMs) {
      throw new RaisePartitionsError(`${topic} is not handled yet by: ${behind.join(', ')}`);
    }
    await delay(POLL_MS);
  }
}

/** The groups that have handled messages of the topic, but not all of them. */
async function groupsBehind(admin: Admin, topic: string, prefix: string): Promise<string[]> {
  const ends = await readEnds(admin, topic);
  const { groups } = await admin.listGroups();
  const names = groups.map(({ groupId }) => groupId).filter((name) => name.startsWith(prefix));
  const behind: string[] = [];
  for (const groupId of names) {
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    const committed = (offsets?.partitions ?? []).map(({ partition, offset }) => {
      return { partition, next: Number(offset) };
    });
    // A group of another topic has committed nothing here.
    if (committed.every(({ next }) => next < 0)) continue;
    const isBehind = committed.some(({ partition, next }) => {
      const { low, high } = ends.get(partition) ?? { low: 0, high: 0 };
      return Math.max(next, low) < high;
    });
    if (isBehind) behind.push(groupId);
  }
  return behind;
}

async function assertNothingPublished(admin: Admin, topic: string, before: Ends): Promise<void> {
  const now = await readEnds(admin, topic);
  for (const [partition, { high }] of now) {
    if (high === (before.get(partition)?.high ?? 0)) continue;
    throw new RaisePartitionsError(
      `messages were published to ${topic} meanwhile: publishing must be held`,
    );
  }
}

async function readEnds(admin: Admin, topic: string): Promise<Ends> {
  const read = () => admin.fetchTopicOffsets(topic);
  const offsets = await repeatWhileRetriable(read, LEADERS_WITHIN_MS);
  return new Map(
    offsets.map(({ partition, low, high }) => [
      partition,
      { low: Number(low), high: Number(high) },
    ]),
  );
}
