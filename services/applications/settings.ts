/** The settings of the applications service. */
import { randomBytes } from 'node:crypto';
import { KEY_RING } from '@creditlane/crypto/key-ring-setting';
import { setting } from '@creditlane/runtime/setting';

export const SETTINGS = {
  keyRing: KEY_RING,
  digestKey: setting.bytes('REQUEST_DIGEST_KEY', {
    secret: true,
    generate: () => randomBytes(32).toString('base64'),
    about: 'Keys the digests of stored requests; after a change, a repetition is a new request.',
  }),
};
