import { randomBytes } from 'node:crypto';
import { setting } from '@creditlane/runtime/setting';
import { KEY_BYTES, KeyRing } from './key-ring.ts';

/** The key ring of a service that seals records. The platform makes one ring for all services. */
export const KEY_RING = setting.parsed('KEY_RING', KeyRing.parse, {
  type: '`id:base64` separated by commas',
  secret: true,
  generate: () => `local-1:${randomBytes(KEY_BYTES).toString('base64')}`,
  about: 'The keys of 32 bytes that seal records, the current one first.',
});
