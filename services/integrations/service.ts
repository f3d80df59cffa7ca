/** The manifest of the integrations service. */
import { KEY_RING } from '@creditlane/crypto/key-ring-setting';
import { egressPolicySetting } from '@creditlane/egress-rules/egress-policy';
import { setting } from '@creditlane/runtime/setting';
import {
  declareService,
  defineService,
  type ServiceContext,
} from '@creditlane/service/define-service';
import { startIntegrations } from './app.ts';
import { parsePlatformKeys } from './key.ts';
import { integrations1763700000000 } from './migrations/0001-integrations.ts';
import { destinationRevision1763800000000 } from './migrations/0002-destination-revision.ts';
import { TABLES } from './tables.ts';

const declaration = declareService({
  name: 'integrations',
  about: 'Integrations with their keys, permissions, grants and webhook destinations.',
  serves: 'calls',
  database: {
    name: 'creditlane_integrations',
    entities: TABLES,
    migrations: [integrations1763700000000, destinationRevision1763800000000],
  },
  settings: {
    keyRing: KEY_RING,
    platformKeys: setting.parsed('PLATFORM_KEY_DIGESTS', parsePlatformKeys, {
      type: 'SHA-256 in hex, separated by commas',
      secret: true,
      about: "The digests of the platform administration's API keys.",
    }),
    /** Must be what the webhook dispatcher's EGRESS settings allow, and no more. */
    destinations: egressPolicySetting('DESTINATIONS'),
  },
});

export type IntegrationsContext = ServiceContext<typeof declaration>;

export const integrations = defineService(declaration, startIntegrations);
