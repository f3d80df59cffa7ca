/** The list of services, from which databases, topics, secrets, settings and compose.yaml are derived. */
import { applications } from '@creditlane/applications/service';
import { conversations } from '@creditlane/conversations/service';
import { creditFile } from '@creditlane/credit-file/service';
import { decisions } from '@creditlane/decisions/service';
import { TOPICS, type Topic } from '@creditlane/events/topics';
import { gateway } from '@creditlane/gateway/service';
import { integrations } from '@creditlane/integrations/service';
import type { AnyService } from '@creditlane/service/define-service';
import { webhookDispatcher } from '@creditlane/webhook-dispatcher/service';

/** The manifests in the order in which the services start in one process: each after the services that it calls. */
export const SERVICES = [
  applications,
  integrations,
  decisions,
  conversations,
  creditFile,
  webhookDispatcher,
  gateway,
] as const satisfies readonly AnyService[];

type Listed = (typeof SERVICES)[number];

export type ServiceName = Listed['name'];

/** The services that have a database. */
export type DatabaseOwner = Extract<Listed, { database: object }>['name'];

/** The name of an environment variable of one service, such as DECISIONS_IDENTITY_KEY. */
export function variableOf(service: string, what: string): string {
  return `${service.replaceAll('-', '_').toUpperCase()}_${what}`;
}

/** By service, the name of its database, which is also the name of the role that owns the database. */
export const DATABASES = databaseNames(SERVICES) as Record<DatabaseOwner, string>;

/** `DATABASES` for other services than those of the list. */
export function databaseNames(services: readonly AnyService[]): Record<string, string> {
  const owned = services.flatMap(({ name, database }) =>
    database === undefined ? [] : [[name, database.name]],
  );
  return Object.fromEntries(owned);
}

/** Whether the service publishes or consumes events. */
export function usesKafka({ publishes, consumes }: AnyService): boolean {
  return publishes !== undefined || consumes !== undefined;
}

/** By topic, the services that consume it. Every consumer handles every event of the topic. */
export function consumersOf(services: readonly AnyService[]): Record<Topic, string[]> {
  const pairs = services.flatMap(({ name, consumes = [] }) =>
    consumes.map((topic) => ({ name, topic })),
  );
  const consumers = Object.keys(TOPICS).map((topic) => [
    topic,
    pairs.flatMap((pair) => (pair.topic === topic ? [pair.name] : [])),
  ]);
  return Object.fromEntries(consumers);
}

/**
 * The services in the order in which an event travels: each after those whose events it consumes.
 * Where events form a cycle, the order of the list decides.
 */
export function sortByEventFlow<S extends AnyService>(services: readonly S[]): S[] {
  const ordered = new Set<S>();
  const visited = new Set<S>();
  const visit = (service: S) => {
    if (visited.has(service)) return;
    visited.add(service);
    for (const topic of service.consumes ?? []) {
      for (const other of services) if (other.publishes?.includes(topic)) visit(other);
    }
    ordered.add(service);
  };
  services.forEach(visit);
  return [...ordered];
}
