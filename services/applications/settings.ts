/** The settings of the applications service. */
import { KEY_RING } from '@creditlane/crypto/key-ring-setting';
import { DIGEST_KEY } from '@creditlane/idempotency/keyed-digest';

export const SETTINGS = { keyRing: KEY_RING, digestKeys: DIGEST_KEY };
