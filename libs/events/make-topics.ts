/** A command that creates the topics of TOPICS in the cluster of KAFKA_BROKERS, and the access to them. */
import { run } from '@creditlane/runtime/run';
import { ensureAccess } from './kafka/ensure-access.ts';
import { ensureTopics } from './kafka/ensure-topics.ts';
import { KAFKA } from './kafka-config.ts';
import { TOPIC_ACCESS } from './topic-access.ts';

await run(
  'topics',
  { kafka: KAFKA, users: TOPIC_ACCESS },
  async ({ kafka: config, users }, { log }) => {
    await ensureTopics({ config, log });
    await ensureAccess({ config, users, log });
  },
  { isCommand: true },
);
