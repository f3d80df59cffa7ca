/** The manifest of the applications service. */
import { randomBytes } from 'node:crypto';
import { KEY_RING } from '@creditlane/crypto/key-ring-setting';
import { setting } from '@creditlane/runtime/setting';
import {
  declareService,
  defineService,
  type ServiceContext,
} from '@creditlane/service/define-service';
import { startApplications } from './app.ts';
import { applications1763700000000 } from './migrations/0001-applications.ts';
import { TABLES } from './tables.ts';

const declaration = declareService({
  name: 'applications',
  about: 'Retailers, creditors, users, applications with their applicants, and submissions.',
  serves: 'calls',
  database: {
    name: 'creditlane_applications',
    entities: TABLES,
    migrations: [applications1763700000000],
    lockTimeout: true,
  },
  publishes: ['creditlane.applications.v1'],
  settings: {
    keyRing: KEY_RING,
    digestKey: setting.bytes('REQUEST_DIGEST_KEY', {
      secret: true,
      generate: () => randomBytes(32).toString('base64'),
      about: 'Keys the digests of stored requests; after a change, a repetition is a new request.',
    }),
  },
});

export type ApplicationsContext = ServiceContext<typeof declaration>;

export const applications = defineService(declaration, startApplications);
