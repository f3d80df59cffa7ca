/** Lets each user of a cluster publish and consume its own topics, and nothing else. */
import type { Log } from '@creditlane/runtime/telemetry/log';
import kafkajs, { type AclEntry } from 'kafkajs';
import type { KafkaConfig } from '../kafka-config.ts';
import type { TopicUser } from '../topic-access.ts';
import { withAdmin } from './admin.ts';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

export interface EnsureAccessOptions {
  /** With the credentials of a user who may change the cluster's access rules. */
  config: KafkaConfig;
  users: readonly TopicUser[];
  log: Log;
}

/**
 * Adds the missing access rules; a rule that exists is kept. Takes effect without a restart, and the bus
 * tries again after a refusal, so services may start before. Throws `KafkaError`.
 */
export async function ensureAccess({ config, users, log }: EnsureAccessOptions): Promise<void> {
  const acl = users.flatMap((user) => rulesOf(user, config.prefix));
  if (acl.length === 0) return;
  const what = 'the access to topics could not be ensured';
  await withAdmin(config, log, what, (admin) => admin.createAcls({ acl }));
}

/** READ and WRITE include DESCRIBE: the offsets and leaders of the topic, the members of the group. */
function rulesOf({ name, publishes = [], consumes = [] }: TopicUser, prefix: string): AclEntry[] {
  const { TOPIC, GROUP } = AclResourceTypes;
  const { READ, WRITE } = AclOperationTypes;
  const rule = (resourceType: number, resourceName: string, operation: number): AclEntry => ({
    principal: `User:${name}`,
    host: '*',
    operation,
    permissionType: AclPermissionTypes.ALLOW,
    resourceType,
    resourceName: prefix + resourceName,
    resourcePatternType: ResourcePatternTypes.LITERAL,
  });
  return [
    ...publishes.map((topic) => rule(TOPIC, topic, WRITE)),
    ...consumes.map((topic) => rule(TOPIC, topic, READ)),
    ...(consumes.length > 0 ? [rule(GROUP, name, READ)] : []),
  ];
}
