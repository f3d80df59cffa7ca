import { randomBytes } from 'node:crypto';
import { type Setting, setting } from '@creditlane/runtime/setting';
import { observeKeyDates, withTodaysDate } from '@creditlane/runtime/telemetry/key-dates';
import { KEY_BYTES, KeyRing, parseKeyRing } from './key-ring.ts';

const KEYS = setting.renewed('KEY_RING', parseKeyRing, {
  type: '`id:base64` or `id:base64:yyyy-MM-dd`, separated by commas',
  secret: true,
  generate: () => withTodaysDate(`local-1:${randomBytes(KEY_BYTES).toString('base64')}`),
  about:
    'The keys of 32 bytes that seal records, the current one first, each with the day on which it was made where that is known.',
});

/** The key ring of a service that seals records. The platform makes one ring for all services. */
export const KEY_RING: Setting<KeyRing> = {
  variables: KEYS.variables,
  read: (env) => new KeyRing(KEYS.read(env)),
  observe: (ring, metrics) => observeKeyDates(metrics, 'KEY_RING', () => ring.madeAt),
};
