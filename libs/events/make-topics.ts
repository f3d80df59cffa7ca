/** Makes the topics that TOPICS declares in the cluster that KAFKA_BROKERS names, and ends. */
import { readEnv } from '@creditlane/runtime/env';
import { run } from '@creditlane/runtime/run';
import { readKafkaConfig } from './kafka-config.ts';
import { ensureTopics } from './kafka-topics.ts';

await run(
  'topics',
  (env) => readEnv(env, readKafkaConfig),
  (config, { log }) => ensureTopics({ config, log }),
);
