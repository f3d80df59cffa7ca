/** Creates the declared topics of a cluster and updates their settings. */

import type { Log } from '@creditlane/runtime/telemetry/log';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import kafkajs, { type Admin, type DescribeConfigResponse, type ITopicConfig } from 'kafkajs';
import type { KafkaConfig } from '../kafka-config.ts';
import { MAX_EVENT_BYTES } from '../message.ts';
import { TOPICS, type TopicDeclaration } from '../topics.ts';
import { repeatWhileRetriable, withAdmin } from './admin.ts';

/** How long the brokers may take to learn of a topic that the controller has created. */
const KNOWN_WITHIN_MS = 15_000;

/** A topic exists with fewer partitions or other replicas than declared, or takes no message of MAX_EVENT_BYTES. */
export class TopicMismatchError extends LoggableError {}

export interface EnsureTopicsOptions {
  config: KafkaConfig;
  log: Log;
  /** TOPICS unless a test says otherwise. */
  topics?: Record<string, TopicDeclaration>;
}

type Wanted = Required<ITopicConfig>;
type TopicSettings = DescribeConfigResponse['resources'][number];

const { TOPIC } = kafkajs.ConfigResourceTypes;

/**
 * Creates missing topics and sets the retention and limits of existing ones; their other settings stay. Throws
 * `TopicMismatchError` when one has fewer partitions or other replicas than declared, or refuses an event of MAX_EVENT_BYTES: more
 * partitions would send a key's next events elsewhere and so out of order, which only `raisePartitions` prevents, and replicas are
 * for an operator to move. An operator may have raised the partitions above the declared number.
 */
export async function ensureTopics(options: EnsureTopicsOptions): Promise<void> {
  const { config, log, topics = TOPICS } = options;
  const wanted = Object.entries(topics).map(([name, declared]) =>
    wantedTopic(config, name, declared),
  );
  await withAdmin(config, log, 'the topics could not be ensured', async (admin) => {
    await createMissing(admin, wanted, log);
    await verify(admin, wanted);
    const present = await describeSettings(admin, wanted);
    verifyLimits(present);
    await updateSettings(admin, wanted, present, log);
  });
}

function wantedTopic(
  { prefix, replication: configured }: KafkaConfig,
  name: string,
  { partitions, retentionMs, replication: declared }: TopicDeclaration,
): Wanted {
  const replication = configured ?? declared;
  const entries = {
    'retention.ms': retentionMs,
    'cleanup.policy': 'delete',
    // One replica may be unavailable: of three replicas, two or more have an acknowledged event.
    'min.insync.replicas': Math.max(1, replication - 1),
    // Brokers decompress what other producers send: kafkajs reads no snappy, lz4 or zstd.
    'compression.type': 'uncompressed',
  };
  return {
    topic: prefix + name,
    numPartitions: partitions,
    replicationFactor: replication,
    replicaAssignment: [],
    configEntries: Object.entries(entries).map(([key, value]) => ({
      name: key,
      value: `${value}`,
    })),
  };
}

async function createMissing(admin: Admin, wanted: Wanted[], log: Log): Promise<void> {
  const existing = new Set(await admin.listTopics());
  const missing = wanted.filter(({ topic }) => !existing.has(topic));
  if (missing.length === 0) return;
  await admin.createTopics({ topics: missing, waitForLeaders: false });
  for (const { topic } of missing) {
    // The leader of each partition answers: so each partition has its leader before the first publish.
    await repeatWhileRetriable(() => admin.fetchTopicOffsets(topic), KNOWN_WITHIN_MS);
    log.info({ topic }, 'topic created');
  }
}

async function verify(admin: Admin, wanted: Wanted[]): Promise<void> {
  const names = wanted.map(({ topic }) => topic);
  const read = () => admin.fetchTopicMetadata({ topics: names });
  const { topics } = await repeatWhileRetriable(read, KNOWN_WITHIN_MS);
  const faults = wanted.flatMap(({ topic, numPartitions, replicationFactor }) => {
    const partitions = topics.find(({ name }) => name === topic)?.partitions ?? [];
    const replicas = new Set(partitions.map((partition) => partition.replicas.length));
    return [
      ...(partitions.length >= numPartitions
        ? []
        : [`${topic} has ${partitions.length} partitions and is declared with ${numPartitions}`]),
      ...(replicas.size === 1 && replicas.has(replicationFactor)
        ? []
        : [`${topic} has ${[...replicas]} replicas and is declared with ${replicationFactor}`]),
    ];
  });
  if (faults.length > 0) throw new TopicMismatchError(faults.join('; '));
}

/** The settings of each topic, those that it has from its brokers included. */
async function describeSettings(admin: Admin, wanted: Wanted[]): Promise<TopicSettings[]> {
  const asked = wanted.map(({ topic }) => ({ type: TOPIC, name: topic }));
  const describe = () => admin.describeConfigs({ resources: asked, includeSynonyms: false });
  return (await repeatWhileRetriable(describe, KNOWN_WITHIN_MS)).resources;
}

/** Where a topic refuses the largest event, its key waits until the limit is raised. */
function verifyLimits(present: readonly TopicSettings[]): void {
  const faults = present.flatMap(({ resourceName, configEntries }) => {
    const limit = configEntries.find(({ configName }) => configName === 'max.message.bytes');
    const bytes = Number(limit?.configValue ?? Infinity);
    if (bytes >= MAX_EVENT_BYTES) return [];
    const fault = `${resourceName} takes messages of ${bytes} bytes and an event may have ${MAX_EVENT_BYTES}`;
    return [`${fault} (max.message.bytes)`];
  });
  if (faults.length > 0) throw new TopicMismatchError(faults.join('; '));
}

/** kafkajs replaces all settings of a topic: the request repeats those that an operator has made. */
async function updateSettings(
  admin: Admin,
  wanted: Wanted[],
  present: readonly TopicSettings[],
  log: Log,
): Promise<void> {
  const changed = wanted.flatMap(({ topic, configEntries }) => {
    const described = present.find(({ resourceName }) => resourceName === topic);
    const ofTopic = described?.configEntries.filter(
      ({ configSource }) => configSource === kafkajs.ConfigSource.TOPIC_CONFIG,
    );
    const settings = new Map(
      ofTopic?.map(({ configName, configValue }) => [configName, configValue]),
    );
    if (configEntries.every(({ name, value }) => settings.get(name) === value)) return [];
    for (const { name, value } of configEntries) settings.set(name, value);
    const entries = [...settings].map(([name, value]) => ({ name, value }));
    return [{ type: TOPIC, name: topic, configEntries: entries }];
  });
  if (changed.length === 0) return;
  await admin.alterConfigs({ validateOnly: false, resources: changed });
  for (const { name } of changed) log.info({ topic: name }, 'settings of a topic changed');
}
