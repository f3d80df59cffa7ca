import { HOST } from './host.ts';
import { platformKeyDigest, type Secrets } from './secrets.ts';
import type { DatabaseOwner, ServiceName } from './services.ts';

/** What the settings of all services are made from. */
export interface PlatformSettings {
  secrets: Secrets;
  databaseUrls: Record<DatabaseOwner, string>;
  ports: { api: number };
  /** Settings of single services on top of the platform's own. */
  settings?: Partial<Record<ServiceName, Record<string, string>>>;
}

/** A service's own part of the environment that it would get on a machine of its own. */
export function settingsOf(
  service: ServiceName,
  platform: PlatformSettings,
): Record<string, string> {
  const { secrets, databaseUrls, ports, settings } = platform;
  const own: Record<ServiceName, Record<string, string>> = {
    integrations: {
      PLATFORM_KEY_DIGESTS: platformKeyDigest(secrets),
      KEY_RING: secrets.keyRing,
      ...receiversHere('DESTINATIONS'),
    },
    applications: { KEY_RING: secrets.keyRing, REQUEST_DIGEST_KEY: secrets.requestDigestKey },
    decisions: {},
    'webhook-dispatcher': receiversHere('EGRESS'),
    gateway: { HOST, PORT: String(ports.api) },
  };
  return {
    ...(service === 'gateway'
      ? {}
      : { DATABASE_URL: databaseUrls[service], DATABASE_POOL_SIZE: '8' }),
    ...own[service],
    ...settings?.[service],
  };
}

/** A webhook receiver on this machine is what a laptop has. */
function receiversHere(prefix: string): Record<string, string> {
  return { [`${prefix}_ALLOW_HTTP`]: 'true', [`${prefix}_ALLOW_LOOPBACK`]: 'true' };
}
