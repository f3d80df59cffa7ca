/** A command that creates the topics of TOPICS in the cluster of KAFKA_BROKERS. */
import { run } from '@creditlane/runtime/run';
import { readSettings } from '@creditlane/runtime/setting';
import { ensureTopics } from './kafka/ensure-topics.ts';
import { KAFKA } from './kafka-config.ts';

await run(
  'topics',
  (env) => readSettings(env, { kafka: KAFKA }),
  ({ kafka: config }, { log }) => ensureTopics({ config, log }),
);
