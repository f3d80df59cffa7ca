/** The services of the platform, in the order in which they start. */
export const SERVICES = [
  'integrations',
  'applications',
  'decisions',
  'webhook-dispatcher',
  'gateway',
] as const;

export type ServiceName = (typeof SERVICES)[number];

/** A variable of the environment that is about a service, such as DECISIONS_ADDRESS. */
export function variableOf(service: ServiceName, what: string): string {
  return `${service.replaceAll('-', '_').toUpperCase()}_${what}`;
}

/** The services that keep a database, and its name, which is its owning role's too. */
export const DATABASES = {
  integrations: 'creditlane_integrations',
  applications: 'creditlane_applications',
  decisions: 'creditlane_decisions',
  'webhook-dispatcher': 'creditlane_webhooks',
} as const satisfies Partial<Record<ServiceName, string>>;

export type DatabaseOwner = keyof typeof DATABASES;
