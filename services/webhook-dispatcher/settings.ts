/** The settings of the webhook dispatcher. */
import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { egressPolicySetting } from '@creditlane/egress-rules/egress-policy';
import { parseDurationMs } from '@creditlane/runtime/duration';
import { refuse } from '@creditlane/runtime/env';
import { type SettingValues, setting } from '@creditlane/runtime/setting';

/** Ten attempts: 75 hours together, without jitter and `Retry-After`. */
const DEFAULT_DELAYS = '5s,5m,30m,2h,5h,10h,14h,20h,1d';
const MAX_DELAYS = 50;
/** The due time of a delivery must be one that PostgreSQL can store. */
const MAX_DELAY = '3650d';

/** The delays of a retry schedule, in milliseconds. Refuses more than MAX_DELAYS, and one above MAX_DELAY. */
function parseDelays(text: string): number[] {
  const delays = text.split(',').map((item) => {
    const delayMs = parseDurationMs(item.trim());
    if (delayMs <= parseDurationMs(MAX_DELAY)) return delayMs;
    return refuse(`time spans of at most ${MAX_DELAY}, such as 5s,5m,2h`);
  });
  return delays.length <= MAX_DELAYS ? delays : refuse(`at most ${MAX_DELAYS}`);
}

/** Trusts the certificates of the PEM beside those that Node trusts; null without any. */
function withFurtherAuthorities(pem: string): SecureContext | null {
  if (pem === '') return null;
  const authorities = pem.match(/-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs) ?? [];
  if (authorities.length === 0 || !authorities.every(isCertificate)) refuse('certificates in PEM');
  return createSecureContext({ ca: [...getCACertificates(), ...authorities] });
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

export const SETTINGS = {
  egress: egressPolicySetting('EGRESS'),
  authorities: setting.renewed('EGRESS_CA', withFurtherAuthorities, {
    type: 'PEM',
    default: '',
    about:
      "Authorities whose certificates receivers may have, beside those of Node's own list and of NODE_EXTRA_CA_CERTS. New connections use what EGRESS_CA_FILE holds then.",
  }),
  deadlineMs: setting.durationMs('DELIVERY_DEADLINE', {
    default: '15s',
    min: '50ms',
    max: '60s',
    about: 'How long a whole exchange with a receiver may take; that of a test event 15s at most.',
  }),
  retryDelaysMs: setting.parsed('RETRY_DELAYS', parseDelays, {
    type: 'time spans separated by commas',
    default: DEFAULT_DELAYS,
    about: 'The delays between the attempts of a delivery, of at most 3650d each.',
  }),
  holdMs: setting.durationMs('ORDER_HOLD', {
    default: '1h',
    min: '1ms',
    max: '24h',
    about:
      'How long a delivery that fails or lacks its content keeps the later ones of its lane waiting.',
  }),
  disableAfterMs: setting.durationMs('DISABLE_AFTER', {
    default: '120h',
    min: '1s',
    max: '3650d',
    about: 'How long a destination may go without a success before it is disabled.',
  }),
  maxInFlight: setting.integer('MAX_IN_FLIGHT', {
    default: 512,
    min: 1,
    max: 10_000,
    about:
      'Requests under way at once, to all destinations together; those that last longer than a second may be twice as many beside them, and idle connections as many again: four file descriptors for each.',
  }),
  maxInFlightPerDestination: setting.integer('MAX_IN_FLIGHT_PER_DESTINATION', {
    default: 64,
    min: 1,
    max: 1_000,
    about: 'Requests under way at once to one destination.',
  }),
  replaysPerSecond: setting.integer('REPLAYS_PER_SECOND', {
    default: 100,
    min: 1,
    max: 1_000,
    about: 'How many deliveries a replay of many puts back into the queue in a second, at most.',
  }),
  leaseMs: setting.durationMs('LEASE', {
    default: '6s',
    min: '1s',
    max: '30s',
    about: 'How soon the deliveries of a process that died are taken over.',
  }),
  destinationsCacheMs: setting.durationMs('DESTINATIONS_CACHE', {
    default: '1s',
    min: '0ms',
    max: '1s',
    about: "How long a destination's URL and secrets are kept before they are asked for again.",
  }),
};

export type WebhookDispatcherSettings = SettingValues<typeof SETTINGS>;
