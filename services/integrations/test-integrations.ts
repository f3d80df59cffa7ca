/** The integrations service on a database of its own, called with real tokens. */
import { randomBytes, randomUUID } from 'node:crypto';
import { digestApiKey, generateApiKey } from '@creditlane/crypto/api-key';
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { decodeEvent } from '@creditlane/events/topics';
import { createTestDatabase, type TestDatabase } from '@creditlane/postgres/test-database';
import { PlatformActsService } from '@creditlane/proto/audit/v1/platform_acts_service';
import { EnablementService } from '@creditlane/proto/integrations/v1/enablement_service';
import type { IntegrationEnabled } from '@creditlane/proto/integrations/v1/integrations_events';
import {
  AccessService,
  DestinationsService,
  IntegrationsService,
  type Permission,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { CallContext, Client } from '@creditlane/rpc/client';
import { serviceIdentity } from '@creditlane/rpc/identity';
import { mountForTest } from '@creditlane/rpc/test-mount';
import { readSettings } from '@creditlane/runtime/setting';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { localSettings } from '@creditlane/service/settings';
import { startService } from '@creditlane/service/start-service';
import { LONGEST_LOCK_TIMEOUT } from '@creditlane/service/test-lock-timeout';
import { afterAll, beforeAll } from 'vitest';
import { type IntegrationsContext, startIntegrations } from './app.ts';
import { integrations } from './service.ts';
import { type FakeApplications, startFakeApplications } from './test-applications.ts';

export const asPlatform = {
  identity: { kind: 'platform', subject: 'platform', permissions: ['MANAGE_INTEGRATIONS'] },
} satisfies CallContext;
export const asGateway: CallContext = { identity: serviceIdentity('gateway') };
export const asDispatcher: CallContext = { identity: serviceIdentity('webhook-dispatcher') };

/** The API key of the platform's administration. */
export const PLATFORM_KEY = generateApiKey(false);
/** The key ring that the service starts with. */
export const OLD_KEY_RING = `old:${randomBytes(32).toString('base64')}`;

/** The key for the digests of requests. */
const DIGEST_KEY = randomBytes(32).toString('base64');

export interface IntegrationsFixture {
  database: TestDatabase;
  sql: TestDatabase['sql'];
  integrations: Client<typeof IntegrationsService>;
  access: Client<typeof AccessService>;
  enablement: Client<typeof EnablementService>;
  destinations: Client<typeof DestinationsService>;
  acts: Client<typeof PlatformActsService>;
  /** EnablementService as the webhook dispatcher calls it. */
  enablementAsDispatcher: Client<typeof EnablementService>;
  applications: FakeApplications;
  /** Every published event, in the order of publication, with its key. */
  events: (IntegrationEnabled & { key: string })[];
  /** Waits until every event has been published. */
  settled(): Promise<void>;
  /** The lines of the log. */
  lines: string[];
  isReady(): boolean;
  /** The metrics of the service, as it exports them. */
  metrics(): Promise<string>;
  /** Stops the service and starts it again on the same database, with another key ring. */
  restart(keyRing: string): Promise<void>;
}

/** Starts the service for the tests of a file, on an empty database or what `prepare` makes of it. */
export function useIntegrations(
  prepare: (database: TestDatabase) => Promise<void> = async () => {},
): IntegrationsFixture {
  const shared: SharedState = {
    applications: { retailers: new Map(), isUnavailable: false },
    events: [],
    lines: [],
  };
  const fixture = { ...shared } as IntegrationsFixture;
  let database: TestDatabase;
  let stop: () => Promise<void>;
  const start = async (keyRing: string) => {
    const { close, ...service } = await startOn(database.url, keyRing, shared);
    stop = close;
    Object.assign(fixture, service);
  };
  beforeAll(async () => {
    database = await createTestDatabase('integrations');
    fixture.database = database;
    fixture.sql = database.sql;
    await prepare(database);
    fixture.restart = async (keyRing) => {
      await stop();
      await start(keyRing);
    };
    await start(OLD_KEY_RING);
  });
  afterAll(async () => {
    await stop?.();
    await database?.drop();
  });
  return fixture;
}

type SharedState = Pick<IntegrationsFixture, 'applications' | 'events' | 'lines'>;

async function startOn(databaseUrl: string, keyRing: string, shared: SharedState) {
  const { applications, events, lines } = shared;
  const process = createTestProcess('integrations', { write: (line) => void lines.push(line) });
  const env = {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '4',
    ...LONGEST_LOCK_TIMEOUT,
    KEY_RING: keyRing,
    REQUEST_DIGEST_KEY: DIGEST_KEY,
    PLATFORM_KEY_DIGESTS: digestApiKey(PLATFORM_KEY).toString('hex'),
    DESTINATIONS_PORTS: '443',
  };
  const values = readSettings(env, localSettings(integrations));
  const bus = createInProcessBus({ consumers: { 'creditlane.integrations.v1': ['test'] } });
  await bus.subscribe({
    group: 'test',
    topics: ['creditlane.integrations.v1'],
    async handle(batch) {
      for (const message of batch) {
        const { event } = decodeEvent(message);
        events.push({ ...(event as IntegrationEnabled), key: message.key });
      }
    },
  });
  const peers = startFakeApplications(applications, process);
  // A change of a destination is answered at once.
  const service = {
    ...integrations,
    start: (context: IntegrationsContext) => startIntegrations(context, 0),
  };
  const { routes, settled } = await startService(service, values, { process, bus, ...peers });
  const client = mountForTest('integrations', routes, ['gateway', 'webhook-dispatcher'], process);
  return {
    integrations: client(IntegrationsService, 'gateway'),
    access: client(AccessService, 'gateway'),
    enablement: client(EnablementService, 'gateway'),
    destinations: client(DestinationsService, 'webhook-dispatcher'),
    acts: client(PlatformActsService, 'gateway'),
    enablementAsDispatcher: client(EnablementService, 'webhook-dispatcher'),
    settled,
    isReady: () => process.health.ready().ready,
    metrics: () => process.metrics.text(),
    close: () => bus.close().then(() => process.closers.close()),
  };
}

/** The owner and permissions of an API key, as the gateway reads them. */
export function authenticate({ access }: IntegrationsFixture, key: string) {
  return access.authenticate({ keyDigest: digestApiKey(key) }, asGateway);
}

/** The revision and the signing secrets of a destination, as the webhook dispatcher gets them. */
export async function readDestination(
  { destinations }: IntegrationsFixture,
  destinationId: string,
): Promise<{ revision: number; url: string; secrets: string[] } | undefined> {
  const request = { destinationIds: [destinationId] };
  const answer = await destinations.getDestinations(request, asDispatcher);
  const [found] = answer.destinations;
  if (found === undefined) return undefined;
  const { revision, url } = found;
  const secrets = found.secrets.map((it) => `whsec_${Buffer.from(it).toString('base64')}`);
  return { revision, url, secrets };
}

/** Registers a new integration; resolves to its id. */
export async function registerTestIntegration(
  { integrations }: IntegrationsFixture,
  permissions: Permission[] = [],
): Promise<string> {
  const integrationId = randomUUID();
  const request = { integrationId, name: 'DealerDesk', permissions };
  await integrations.registerIntegration(request, asPlatform);
  return integrationId;
}
