/** The list of services: all that is said of every service is derived from it. */
import { applications } from '@creditlane/applications/service';
import { decisions } from '@creditlane/decisions/service';
import { TOPICS, type Topic } from '@creditlane/events/topics';
import { gateway } from '@creditlane/gateway/service';
import { integrations } from '@creditlane/integrations/service';
import type { AnyService } from '@creditlane/service/define-service';
import { webhookDispatcher } from '@creditlane/webhook-dispatcher/service';

/** In the order in which they start in one process: each after those that it calls. */
export const SERVICES = [
  integrations,
  applications,
  decisions,
  webhookDispatcher,
  gateway,
] as const satisfies readonly AnyService[];

type Listed = (typeof SERVICES)[number];

export type ServiceName = Listed['name'];

/** The services that have a database. */
export type DatabaseOwner = Extract<Listed, { database: object }>['name'];

/** The variable of the environment about a service, such as DECISIONS_IDENTITY_KEY. */
export function variableOf(service: string, what: string): string {
  return `${service.replaceAll('-', '_').toUpperCase()}_${what}`;
}

/** The names of the databases, which are those of their roles too, by the services that own them. */
export const DATABASES = databaseNames(SERVICES) as Record<DatabaseOwner, string>;

/** The same for any services. */
export function databaseNames(services: readonly AnyService[]): Record<string, string> {
  const owned = services.flatMap(({ name, database }) =>
    database === undefined ? [] : [[name, database.name]],
  );
  return Object.fromEntries(owned);
}

/** The consumers of each topic: those that must have handled its every event. */
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
 * Where events go round in a circle, the order of the list decides.
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
