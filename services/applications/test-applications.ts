/** The applications service on a database of its own, called with real tokens. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { type DecodedEvent, decodeEvent } from '@creditlane/events/topics';
import { createTestDatabase, type TestDatabase } from '@creditlane/postgres/test-database';
import {
  type ApplicantSchema,
  type Application,
  ApplicationType,
} from '@creditlane/proto/applications/v1/application';
import {
  ApplicationsService,
  type CreateApplicationRequestSchema,
  type SubmitApplicationRequestSchema,
} from '@creditlane/proto/applications/v1/applications_service';
import { ConsentsService } from '@creditlane/proto/applications/v1/consents_service';
import {
  DirectoryService,
  type UserSchema,
} from '@creditlane/proto/applications/v1/directory_service';
import { PlatformActsService } from '@creditlane/proto/audit/v1/platform_acts_service';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import type { CallContext } from '@creditlane/rpc/client';
import { type Identity, serviceIdentity } from '@creditlane/rpc/identity';
import { mountForTest } from '@creditlane/rpc/test-mount';
import { readSettings } from '@creditlane/runtime/setting';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { localSettings } from '@creditlane/service/settings';
import { startService } from '@creditlane/service/start-service';
import { LONGEST_LOCK_TIMEOUT } from '@creditlane/service/test-lock-timeout';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { applications } from './service.ts';

export type TestApplications = Awaited<ReturnType<typeof startTestApplications>>;

export const asPlatform: CallContext = {
  identity: { kind: 'platform', subject: 'platform', permissions: ['MANAGE_DIRECTORY'] },
};
/** May also put retailers into one group. */
export const asGranter: CallContext = {
  identity: {
    kind: 'platform',
    subject: 'platform',
    permissions: ['MANAGE_DIRECTORY', 'MANAGE_INTEGRATIONS'],
  },
};
export const asGateway: CallContext = { identity: serviceIdentity('gateway') };
export const asDecisions: CallContext = { identity: serviceIdentity('decisions') };
export const asConversations: CallContext = { identity: serviceIdentity('conversations') };
export const asCreditFile: CallContext = { identity: serviceIdentity('credit-file') };
export const asDispatcher: CallContext = { identity: serviceIdentity('webhook-dispatcher') };

/** The key ring that the service starts with. */
export const KEYS = `k1:${randomBytes(32).toString('base64')}`;

/**
 * @param prepare puts data into the database before the service starts, such as those of an earlier version
 * @param isAlone whether it starts as in the platform in one process
 */
export async function startTestApplications(
  prepare: (database: TestDatabase) => Promise<void> = async () => {},
  isAlone = false,
) {
  const database = await createTestDatabase('applications');
  await prepare(database);
  const log: string[] = [];
  const sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  const digestKey = randomBytes(32).toString('base64');
  const start = async (keys: string, settings: Record<string, string> = {}) => {
    const process = createTestProcess('applications', { write: (line) => void log.push(line) });
    const bus = createInProcessBus({ consumers: { 'creditlane.applications.v1': ['decisions'] } });
    const events: DecodedEvent[] = [];
    await bus.subscribe({
      group: 'decisions',
      topics: ['creditlane.applications.v1'],
      handle: async (batch) => void events.push(...batch.map(decodeEvent)),
    });
    const env = {
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: '8',
      KEY_RING: keys,
      REQUEST_DIGEST_KEY: digestKey,
      ...LONGEST_LOCK_TIMEOUT,
      ...settings,
    };
    const stop = async () => {
      await process.closers.close();
      await bus.close();
    };
    const values = readSettings(env, localSettings(applications));
    const service = await startService(applications, values, { process, bus, isAlone }).catch(
      async (error) => {
        await stop();
        throw error;
      },
    );
    const peers = [
      'gateway',
      'decisions',
      'conversations',
      'integrations',
      'webhook-dispatcher',
      'credit-file',
    ];
    const client = mountForTest('applications', service.routes, peers, process);
    return {
      events,
      metrics: process.metrics,
      settled: service.settled,
      applications: client(ApplicationsService, 'gateway'),
      forDecisions: client(ApplicationsService, 'decisions'),
      forConversations: client(ApplicationsService, 'conversations'),
      forDispatcher: client(ApplicationsService, 'webhook-dispatcher'),
      erasure: client(ApplicationsService, 'credit-file'),
      consents: client(ConsentsService, 'gateway'),
      forCreditFile: client(ConsentsService, 'credit-file'),
      directory: client(DirectoryService, 'gateway'),
      acts: client(PlatformActsService, 'gateway'),
      forIntegrations: client(DirectoryService, 'integrations'),
      stop,
    };
  };
  let running = await start(KEYS);
  return {
    database,
    sql,
    log,
    get service() {
      return running;
    },
    /** Stops the service and starts it again on the same database, with another key ring or other settings. */
    async restart(keys = KEYS, settings: Record<string, string> = {}) {
      await running.stop();
      running = await start(keys, settings);
    },
    async close() {
      await running.stop();
      await sql.end();
      await database.drop();
    },
  };
}

/** Registers a new retailer with a group and a user, and a new creditor. */
export async function registerTenant({ service: { directory } }: TestApplications) {
  const [retailerId, retailerGroupId] = [randomUUID(), randomUUID()];
  const [userId, creditorId] = [randomUUID(), randomUUID()];
  const retailerGroup = { retailerGroupId, name: 'Harbour Group' };
  await directory.registerRetailerGroup({ retailerGroup }, asPlatform);
  const retailer = { retailerId, name: 'Harbour Motors', retailerGroupId };
  await directory.registerRetailer({ retailer }, asPlatform);
  const user = { ...aUser(userId), retailerIds: [retailerId] };
  await directory.registerUser({ user }, asPlatform);
  await directory.registerCreditor({ creditor: { creditorId, name: 'Prairie' } }, asPlatform);
  return { retailerId, retailerGroupId, userId, creditorId };
}

export type Tenant = Awaited<ReturnType<typeof registerTenant>>;

export interface TenantFixture {
  applications: TestApplications;
  tenant: Tenant;
}

/** Starts the service with one tenant for the tests of a file. */
export function useTenant(): TenantFixture {
  const fixture = {} as TenantFixture;
  beforeAll(async () => {
    fixture.applications = await startTestApplications();
    fixture.tenant = await registerTenant(fixture.applications);
  });
  afterAll(() => fixture.applications?.close());
  return fixture;
}

export function aUser(userId: string) {
  return {
    userId,
    firstName: 'Noor',
    lastName: 'Singh',
    email: 'noor@harbour.example',
    active: true,
  } satisfies MessageInitShape<typeof UserSchema>;
}

/** The context of an integration's call for a retailer. */
export function asIntegration(
  retailerId: string,
  idempotencyKey?: string,
  subject = '0198c0de-0000-7000-8000-00000000d001',
): CallContext {
  const identity: Identity = {
    kind: 'integration',
    subject,
    permissions: [],
    retailerId,
  };
  return { identity, idempotencyKey };
}

export const SIN = '046-454-286';

export function anApplicant() {
  return {
    firstName: 'Maya',
    lastName: 'Tremblay',
    sin: SIN,
    dateOfBirth: '1988-07-14',
    email: 'maya.tremblay@example.com',
    addressHistory: [{ streetNo: '1280', streetName: 'Sherbrooke', province: 'QC' }],
    employmentHistory: [{ employerName: 'Northern Lights Bakery', status: 'FULL_TIME' }],
  } satisfies MessageInitShape<typeof ApplicantSchema>;
}

export function anApplication(retailerId: string) {
  return {
    retailerId,
    type: ApplicationType.APPROVAL,
    primaryApplicant: anApplicant(),
  } satisfies MessageInitShape<typeof CreateApplicationRequestSchema>;
}

type NewApplication = Exclude<
  MessageInitShape<typeof CreateApplicationRequestSchema>,
  MessageShape<typeof CreateApplicationRequestSchema>
>;

export async function createTestApplication(
  { service }: TestApplications,
  retailerId: string,
  request: NewApplication = {},
): Promise<Application> {
  const { application } = await service.applications.createApplication(
    { ...anApplication(retailerId), ...request },
    asIntegration(retailerId),
  );
  if (!application) throw new Error('the answer holds no application');
  return application;
}

/** Creates an application of the tenant and submits it to the tenant's creditor. */
export async function createSubmission(
  fixture: TestApplications,
  tenant: Tenant,
  request: NewApplication = {},
): Promise<Application> {
  const { retailerId, creditorId } = tenant;
  const application = await createTestApplication(fixture, retailerId, request);
  const submission = aSubmission(application, tenant, [creditorId]);
  await fixture.service.applications.submitApplication(submission, asIntegration(retailerId));
  return application;
}

/** Erases an applicant as the credit-file service does; tells whether the retailer has the applicant. */
export async function eraseApplicant(
  { service }: TestApplications,
  retailerId: string,
  applicantId = '',
): Promise<boolean> {
  const request = { retailerId, applicantId: applicantId.toUpperCase() };
  return (await service.erasure.eraseApplicant(request, asCreditFile)).erased;
}

/** How many sessions wait for a lock in a statement whose text has the part. */
export async function countWaiting({ database }: TestApplications, part: string): Promise<number> {
  const { rows } = await database.sql.query(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()
       AND wait_event_type = 'Lock' AND position($1 in query) > 0`,
    [part],
  );
  return rows[0].n;
}

/** A request that submits an application to creditors, with every applicant's consent. */
export function aSubmission(application: Application, { userId }: Tenant, creditorIds: string[]) {
  const { primaryApplicant, coApplicant, applicationId } = application;
  const applicants = [primaryApplicant, coApplicant].filter((applicant) => !!applicant);
  return {
    applicationId,
    submittedByUserId: userId,
    creditorIds,
    consents: applicants.map(({ applicantId }) => ({ applicantId, creditConsent: true })),
    worksheet: {
      terms: {
        firstPaymentDate: '2027-01-15',
        frequency: PaymentFrequency.BI_WEEKLY,
        interestRate: 7.49,
        term: 60,
      },
      salePrice: 28_995,
      vehicle: { vin: '1HGBH41JXMN109186', make: 'Honda', status: 'USED' },
    },
  } satisfies MessageInitShape<typeof SubmitApplicationRequestSchema>;
}
