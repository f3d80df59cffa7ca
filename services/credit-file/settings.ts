/** The settings of the credit-file service. */
import { randomBytes } from 'node:crypto';
import { KEY_RING } from '@creditlane/crypto/key-ring-setting';
import { type Setting, setting } from '@creditlane/runtime/setting';
import { withTodaysDate } from '@creditlane/runtime/telemetry/key-dates';
import { BUREAU_SETTINGS } from './bureaus/bureau-settings.ts';

const PULL_MIN_AGE_DAYS = setting.integer('PULL_MIN_AGE_DAYS', {
  default: 30,
  min: 0,
  max: 365,
  about: 'How many days a credit file is not pulled again, unless the request forces it.',
});

const FILE_RETENTION_DAYS = setting.integer('FILE_RETENTION_DAYS', {
  default: 365,
  min: 1,
  max: 3_650,
  about:
    'How many days a credit file is kept, at least `PULL_MIN_AGE_DAYS`; its pull and the audit log stay. A person can ask for a year what a decision was made on.',
});

/** Its file keeps a pull from being made again: a file deleted earlier would allow a second inquiry. */
const fileRetentionDays: Setting<number> = {
  variables: FILE_RETENTION_DAYS.variables,
  read(env) {
    const days = FILE_RETENTION_DAYS.read(env);
    // Without the variable it is the default, which is the most that the other one can be.
    const isTooShort = days < PULL_MIN_AGE_DAYS.read(env);
    return isTooShort ? env.refused('FILE_RETENTION_DAYS', 'at least PULL_MIN_AGE_DAYS') : days;
  },
};

const PULL_LEASE = setting.durationMs('PULL_LEASE', {
  default: '10s',
  min: '500ms',
  max: '60s',
  about:
    'How soon the pulls of a process that died are taken over; less than half of BUREAU_DEADLINE counts as that half. The outcome of those that were sent is unknown BUREAU_DEADLINE later.',
});

/**
 * An inquiry may be sent until half of its deadline has passed. A pull whose lease ended before that would be another
 * process's, while a process that was suspended still sends its inquiry.
 */
const leaseMs: Setting<number> = {
  variables: PULL_LEASE.variables,
  read: (env) => Math.max(PULL_LEASE.read(env), BUREAU_SETTINGS.deadlineMs.read(env) / 2),
};

export const SETTINGS = {
  keyRing: KEY_RING,
  bureaus: setting.all(BUREAU_SETTINGS),
  documentLinkKeys: setting.keys('DOCUMENT_LINK_KEY', {
    secret: true,
    generate: () => withTodaysDate(randomBytes(32).toString('base64')),
    about:
      'The key that signs the links to the PDF of a credit file, and behind it those of links of the last 15 minutes. It also keys the digests by which forced pulls of one person are counted.',
  }),
  pullMinAgeDays: PULL_MIN_AGE_DAYS,
  fileRetentionDays,
  maxForcedPulls: setting.integer('MAX_FORCED_PULLS', {
    default: 2,
    min: 0,
    max: 1_000,
    about:
      'How often in 24 hours a file of one person may be pulled by force from one bureau, whichever retailers ask.',
  }),
  maxPulls: setting.integer('MAX_PULLS', {
    default: 32,
    min: 1,
    max: 1_000,
    about: 'Pulls that one process runs at once.',
  }),
  maxPullsPerRetailer: setting.integer('MAX_PULLS_PER_RETAILER', {
    default: 8,
    min: 1,
    max: 1_000,
    about: 'Pulls of one retailer at one bureau that all processes together run at once.',
  }),
  leaseMs,
};
