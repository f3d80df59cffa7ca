import type { DatabaseUrls } from '@creditlane/platform/databases';
import { type Secrets, secretSettings } from '@creditlane/platform/secrets';
import { SERVICES, type ServiceName } from '@creditlane/platform/services';
import type { AnyService } from '@creditlane/service/define-service';
import { HOST } from './host.ts';

/** What the settings of all services are made from. */
export interface PlatformSettings {
  /** Those that the platform consists of; all of the list when left out. */
  services?: readonly AnyService[];
  secrets: Secrets;
  databaseUrls: DatabaseUrls;
  ports: { api: number };
  /** Settings of single services on top of the platform's own. */
  settings?: Partial<Record<ServiceName, Record<string, string>>>;
}

/** Webhook receivers on this machine are allowed. */
const LOCAL_RECEIVERS: Record<string, Record<string, string>> = {
  integrations: { DESTINATIONS_ALLOW_HTTP: 'true', DESTINATIONS_ALLOW_LOOPBACK: 'true' },
  'webhook-dispatcher': { EGRESS_ALLOW_HTTP: 'true', EGRESS_ALLOW_LOOPBACK: 'true' },
};

/** The services of the platform, in the order in which they start. */
export function servicesOf({ services = SERVICES }: PlatformSettings): readonly AnyService[] {
  return services;
}

/** The variables of `localSettings` of a service on this machine. */
export function settingsOf(
  service: AnyService,
  { secrets, databaseUrls, ports, settings = {} }: PlatformSettings,
): Record<string, string> {
  const urls: Record<string, string> = databaseUrls;
  const DATABASE_URL = urls[service.name];
  const additional: Record<string, Record<string, string> | undefined> = settings;
  return {
    ...(DATABASE_URL !== undefined && { DATABASE_URL, DATABASE_POOL_SIZE: '8' }),
    ...(service.serves === 'http' && { HOST, PORT: String(ports.api) }),
    ...secretSettings(service, secrets),
    ...LOCAL_RECEIVERS[service.name],
    ...additional[service.name],
  };
}
