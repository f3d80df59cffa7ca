/** Makes the topics that TOPICS declares in the cluster that KAFKA_BROKERS names, and ends. */
import { readEnv } from '@creditlane/runtime/env';
import { run } from '@creditlane/runtime/run';
import { ensureTopics } from './kafka/ensure-topics.ts';
import { readKafkaConfig } from './kafka-config.ts';

await run(
  'topics',
  (env) => readEnv(env, readKafkaConfig),
  (config, { log }) => ensureTopics({ config, log }),
);
