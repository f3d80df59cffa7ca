/** The settings of the integrations service. */
import { KEY_RING } from '@creditlane/crypto/key-ring-setting';
import { egressPolicySetting } from '@creditlane/egress-rules/egress-policy';
import { DIGEST_KEY } from '@creditlane/idempotency/keyed-digest';
import { setting } from '@creditlane/runtime/setting';
import { parsePlatformKeys } from './keys/key.ts';

export const SETTINGS = {
  keyRing: KEY_RING,
  digestKeys: DIGEST_KEY,
  platformKeys: setting.renewed('PLATFORM_KEY_DIGESTS', parsePlatformKeys, {
    type: 'SHA-256 in hex and optionally `:permission:permission`, separated by commas',
    secret: true,
    about: `The digests of the platform administration's API keys. A key has the permissions named after its digest, or all.`,
  }),
  /** Must be what the webhook dispatcher's EGRESS settings allow, and no more. */
  destinations: egressPolicySetting('DESTINATIONS'),
};
