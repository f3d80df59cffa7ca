// The settings of each service on this machine, made from ports, secrets and database URLs.
import { REQUEST_TEMPLATE } from '@creditlane/bureau-simulator/request-template';
import type { DatabaseUrls } from '@creditlane/platform/databases';
import { type Secrets, secretSettings } from '@creditlane/platform/secrets';
import { SERVICES, type ServiceName } from '@creditlane/platform/services';
import type { AnyService } from '@creditlane/service/define-service';
import { HOST } from './host.ts';

/** The values from which the settings of all services are made. */
export interface PlatformSettings {
  /** The services of the platform; all of SERVICES when left out. */
  services?: readonly AnyService[];
  secrets: Secrets;
  databaseUrls: DatabaseUrls;
  ports: { api: number };
  /** Further settings of single services, which override the platform's. */
  settings?: Partial<Record<ServiceName, Record<string, string>>>;
}

/** Webhook receivers and the bureau simulator are on this machine. */
const LOCAL_SERVERS: Record<string, Record<string, string>> = {
  integrations: { DESTINATIONS_ALLOW_HTTP: 'true', DESTINATIONS_ALLOW_LOOPBACK: 'true' },
  'webhook-dispatcher': { EGRESS_ALLOW_HTTP: 'true', EGRESS_ALLOW_LOOPBACK: 'true' },
  'credit-file': {
    BUREAU_ALLOW_HTTP: 'true',
    BUREAU_ALLOW_LOOPBACK: 'true',
    // The simulator fails where its personas say so, which must not stop the inquiries of others.
    BUREAU_FAILURES_TO_OPEN: '1000000',
    EQUIFAX_TOKEN_URL: '/equifax/token',
    EQUIFAX_TOKEN_SCOPE: 'simulator',
    TRANSUNION_REQUEST_TEMPLATE: REQUEST_TEMPLATE,
    // The simulator's own error code: no code of TransUnion is publicly known.
    BUREAU_CODE_TABLES: 'transunion: { error: { A001: credentials } }',
  },
};

/** The services of the platform, in the order in which they start. */
export function servicesOf({ services = SERVICES }: PlatformSettings): readonly AnyService[] {
  return services;
}

/** The environment of a service on this machine: values for the variables of its `localSettings`. */
export function settingsOf(
  service: AnyService,
  { secrets, databaseUrls, ports, settings = {} }: PlatformSettings,
): Record<string, string> {
  const urls: Record<string, string> = databaseUrls;
  const DATABASE_URL = urls[service.name];
  const additional: Record<string, Record<string, string> | undefined> = settings;
  return {
    ...(DATABASE_URL !== undefined && { DATABASE_URL, DATABASE_POOL_SIZE: '8' }),
    ...(service.serves === 'http' && {
      HOST,
      PORT: String(ports.api),
      PUBLIC_URL: `http://${HOST}:${ports.api}`,
    }),
    ...secretSettings(service, secrets),
    ...LOCAL_SERVERS[service.name],
    ...additional[service.name],
  };
}
