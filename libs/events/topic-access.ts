/** Which topics the user of each service may publish to and consume, as the manifests declare it. */
import { refuse } from '@creditlane/runtime/env';
import { setting } from '@creditlane/runtime/setting';
import { TOPICS, type Topic } from './topics.ts';

/** A service's name, which is its user and its consumer group, with its topics: any service manifest. */
export interface TopicUser {
  readonly name: string;
  readonly publishes?: readonly Topic[];
  readonly consumes?: readonly Topic[];
}

/** The setting of `make-topics.ts`, in the form of `formatTopicAccess`. */
export const TOPIC_ACCESS = setting.parsed('KAFKA_TOPIC_ACCESS', parseTopicAccess, {
  type: '`user:publishes:topic` or `user:consumes:topic`, separated by commas',
  default: '',
  about: 'What each user of the cluster may do; empty where operators decide that in the cluster.',
});

/** The entries of TOPIC_ACCESS for services: one for each topic that a service publishes or consumes. */
export function formatTopicAccess(users: readonly TopicUser[]): string[] {
  return users.flatMap(({ name, publishes = [], consumes = [] }) => [
    ...publishes.map((topic) => `${name}:publishes:${topic}`),
    ...consumes.map((topic) => `${name}:consumes:${topic}`),
  ]);
}

function parseTopicAccess(text: string): TopicUser[] {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  return entries.map((entry) => {
    const [, name = '', verb, topic = ''] =
      /^([\w-]+):(publishes|consumes):(.+)$/.exec(entry.trim()) ?? [];
    if (!isTopic(topic))
      return refuse('user:publishes:topic or user:consumes:topic, with a known topic');
    return verb === 'publishes' ? { name, publishes: [topic] } : { name, consumes: [topic] };
  });
}

function isTopic(text: string): text is Topic {
  return Object.hasOwn(TOPICS, text);
}
