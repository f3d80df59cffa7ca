/** A command that raises the number of partitions of a topic in the cluster of KAFKA_BROKERS: docs/operations/scaling-events.md. */
import { refuse } from '@creditlane/runtime/env';
import { run } from '@creditlane/runtime/run';
import { setting } from '@creditlane/runtime/setting';
import { raisePartitions } from './kafka/raise-partitions.ts';
import { KAFKA } from './kafka-config.ts';
import { TOPICS, type Topic } from './topics.ts';

const MAX_PARTITIONS = 200;

const SETTINGS = {
  kafka: KAFKA,
  topic: setting.parsed('RAISE_TOPIC', parseTopic, {
    type: 'a topic',
    about: 'The topic, without KAFKA_PREFIX.',
  }),
  partitions: setting.integer('RAISE_TO', {
    min: 2,
    max: MAX_PARTITIONS,
    about: 'How many partitions it gets.',
  }),
  handledWithinMs: setting.durationMs('RAISE_HANDLED_WITHIN', {
    default: '2m',
    min: '1s',
    max: '1h',
    about: 'How long the groups may take to handle what is on the topic.',
  }),
};

function parseTopic(text: string): Topic {
  const topic = Object.keys(TOPICS).find((it): it is Topic => it === text);
  return topic ?? refuse(`one of ${Object.keys(TOPICS).join(', ')}`);
}

await run(
  'partitions',
  SETTINGS,
  async ({ kafka: config, topic, partitions, handledWithinMs }, { log }) => {
    await raisePartitions({ config, topic, partitions, handledWithinMs, log });
    log.info({ topic, partitions }, 'every producer knows the partitions; publishing may go on');
  },
  { isCommand: true },
);
