/** The credit-file service on a database of its own, beside a fake applications service and a fake bureau. */
import { randomBytes, randomUUID } from 'node:crypto';
import { REQUEST_TEMPLATE } from '@creditlane/bureau-simulator/request-template';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import {
  BureauCredentialsService,
  EquifaxTransport,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import {
  CreditFileService,
  type Pull,
  PullState,
  Source,
} from '@creditlane/proto/creditfile/v1/credit_file_service';
import type { CallContext } from '@creditlane/rpc/client';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import type { Identity } from '@creditlane/rpc/identity';
import { mountForTest } from '@creditlane/rpc/test-mount';
import { readSettings } from '@creditlane/runtime/setting';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { localSettings } from '@creditlane/service/settings';
import { startService } from '@creditlane/service/start-service';
import { LONGEST_LOCK_TIMEOUT } from '@creditlane/service/test-lock-timeout';
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { startCreditFile } from './app.ts';
import type { CreditFile } from './credit-file.ts';
import { creditFile } from './service.ts';
import { aSubject, startFakeApplications } from './test-applications.ts';
import { FakeBureau } from './test-bureau.ts';

export type TestCreditFiles = Awaited<ReturnType<typeof startTestCreditFiles>>;

/** The key ring that the service starts with. */
export const KEYS = `k1:${randomBytes(32).toString('base64')}`;

/** The ids of an applicant whose consent is there. */
export interface TestApplicant {
  applicationId: string;
  applicantId: string;
  retailerId: string;
}

/** The service, which asks this bureau, at a time that is later by the offset. */
function serviceWith(bureau: FakeBureau, now: { offsetMs: number }) {
  return {
    ...creditFile,
    start: (context: Parameters<typeof startCreditFile>[0]) =>
      startCreditFile(context, {
        // Without a pause between attempts.
        random: () => 0,
        pollMs: 50,
        erasureTimes: { pollMs: 50, baseMs: 50, capMs: 500 },
        clock: () => new Date(Date.now() + now.offsetMs),
        sendInquiry: (pending, credentials) => bureau.inquire(pending, credentials),
      }),
  };
}

const settingsOfTests = () => ({
  DOCUMENT_LINK_KEY: randomBytes(32).toString('base64'),
  TRANSUNION_REQUEST_TEMPLATE: REQUEST_TEMPLATE,
  // The applicants of the tests are one person.
  MAX_FORCED_PULLS: '1000',
});

/** Starts the service; the caller closes it. */
export async function startTestCreditFiles(given: Record<string, string> = {}) {
  const database = await createTestDatabase('credit_file');
  const log: string[] = [];
  const { fake, peers } = startFakeApplications();
  const bureau = new FakeBureau();
  const now = { offsetMs: 0 };
  const always = { ...settingsOfTests(), ...given };
  const start = async (
    keys = KEYS,
    settings: Record<string, string> = {},
    applications?: Endpoint,
    isAlone = false,
  ) => {
    const process = createTestProcess('credit-file', { write: (line) => void log.push(line) });
    const env = {
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: '8',
      ...LONGEST_LOCK_TIMEOUT,
      KEY_RING: keys,
      ...always,
      ...settings,
    };
    const values = readSettings(env, localSettings(creditFile));
    const stop = () => process.closers.close();
    const service = serviceWith(bureau, now);
    const deps = { process, isAlone, ...peers(process, applications) };
    const { routes } = await startService(service, values, deps).catch(async (error) => {
      await stop();
      throw error;
    });
    const client = mountForTest('credit-file', routes, ['gateway'], process);
    return {
      client: client(CreditFileService, 'gateway'),
      credentials: client(BureauCredentialsService, 'gateway'),
      ...process,
      stop,
    };
  };
  let running = await start();
  const others: { stop: () => Promise<void> }[] = [];
  return {
    database,
    sql: database.sql,
    log,
    applications: fake,
    bureau,
    /** Added to the service's clock. */
    now,
    get client() {
      return running.client;
    },
    get credentials() {
      return running.credentials;
    },
    get metrics() {
      return running.metrics;
    },
    get closers() {
      return running.closers;
    },
    stop: () => running.stop(),
    /** Starts the service again on the same database. */
    async restart(keys?: string) {
      await running.stop();
      running = await start(keys);
    },
    /** Starts another replica, which ends with the service. `isAlone`: as in the platform in one process. */
    async startReplica(
      settings: Record<string, string> = {},
      applications?: Endpoint,
      isAlone = false,
    ) {
      const replica = await start(KEYS, settings, applications, isAlone);
      others.push(replica);
      return replica;
    },
    async close() {
      await Promise.all([running, ...others].map(({ stop }) => stop()));
      await database.drop();
    },
  };
}

/** A new applicant with a consent, of a retailer with credentials with both bureaus. */
export async function addApplicant(
  service: TestCreditFiles,
  retailerId: string = randomUUID(),
): Promise<TestApplicant> {
  const applicant = { applicationId: randomUUID(), applicantId: randomUUID(), retailerId };
  const { applicationId, applicantId } = applicant;
  const subject = aSubject(retailerId, applicantId);
  service.applications.subjects.set(`${applicationId} ${applicantId}`, subject);
  await setCredentials(service, retailerId);
  return applicant;
}

export const EQUIFAX_CREDENTIALS = {
  customerCode: 'A123',
  customerNumber: '999ZB12345',
  securityCode: 'sesame-open',
  transport: EquifaxTransport.OAUTH,
  baseUrl: 'https://bureau.example.com/efx',
  clientId: 'client-1',
  clientSecret: 'very-secret-client',
};

export const TRANSUNION_CREDENTIALS = {
  memberCode: '4242ON1',
  password: 'tu-password-1',
  baseUrl: 'https://bureau.example.com/tu',
};

export async function setCredentials(
  { credentials }: Pick<TestCreditFiles, 'credentials'>,
  retailerId: string,
) {
  for (const given of [
    { case: 'equifax', value: EQUIFAX_CREDENTIALS },
    { case: 'transunion', value: TRANSUNION_CREDENTIALS },
  ] as const) {
    await credentials.setBureauCredentials({ retailerId, credentials: given }, asPlatform());
  }
}

export function asPlatform(): CallContext {
  return {
    identity: { kind: 'platform', subject: 'platform-key', permissions: ['MANAGE_DIRECTORY'] },
  };
}

export interface CreditFilesFixture {
  service: TestCreditFiles;
  /** A new applicant in each test. */
  applicant: TestApplicant;
}

/** Starts the service for the tests of a file, and makes a new applicant before each test. */
export function useApplicant(settings: Record<string, string> = {}): CreditFilesFixture {
  const fixture = {} as CreditFilesFixture;
  beforeAll(async () => {
    fixture.service = await startTestCreditFiles(settings);
  });
  afterAll(() => fixture.service?.close());
  beforeEach(async () => {
    const { applications, bureau, now, sql } = fixture.service;
    // The pulls of the test before are none of this one.
    bureau.reset();
    const unfinished = 'SELECT FROM pulls WHERE finished_at IS NULL';
    const isIdle = async () => expect((await sql.query(unfinished)).rowCount).toBe(0);
    await vi.waitFor(isIdle, 15_000);
    Object.assign(applications, { failure: undefined, delay: undefined, onAnswer: undefined });
    bureau.reset();
    now.offsetMs = 0;
    fixture.applicant = await addApplicant(fixture.service);
  });
  return fixture;
}

export type CallOptions = Partial<CallContext> &
  Partial<Pick<Identity, 'subject' | 'permissions' | 'retailerContext'>>;

/** The context of a call by an integration for this retailer. */
export function asIntegration(retailerId?: string, options: CallOptions = {}): CallContext {
  const { subject = randomUUID(), permissions = [], retailerContext, ...others } = options;
  const scope = { ...(retailerId && { retailerId }), ...(retailerContext && { retailerContext }) };
  const identity: Identity = { kind: 'integration', subject, permissions, ...scope };
  return { identity, ...others };
}

export type RequestOptions = CallOptions & {
  source?: Source;
  requestId?: string;
  force?: boolean;
  client?: TestCreditFiles['client'];
};

/** Requests a pull, and returns it. */
export async function request(
  service: Pick<TestCreditFiles, 'client'>,
  { applicationId, applicantId, retailerId }: TestApplicant,
  {
    source = Source.EQUIFAX,
    requestId = '',
    force = false,
    ...options
  }: RequestOptions & {
    xRequestId?: string;
  } = {},
): Promise<Pull> {
  const { xRequestId, client = service.client, ...context } = options;
  const message = { applicationId, applicantId, source, requestId, force };
  const call = asIntegration(retailerId, {
    ...(force && { permissions: ['FORCE_PULL'] }),
    ...context,
    ...(xRequestId !== undefined && { requestId: xRequestId }),
  });
  const { pull } = await client.requestCreditFile(message, call);
  if (pull === undefined) throw new Error('the answer has no pull');
  return pull;
}

/** Reads the credit file; waits for a running pull for at most `waitMs`. */
export async function read(
  { client }: Pick<TestCreditFiles, 'client'>,
  { applicationId, applicantId, retailerId }: TestApplicant,
  {
    waitMs = 0,
    unmasked = false,
    readsAfterWait = false,
    ...options
  }: CallOptions & {
    waitMs?: number;
    unmasked?: boolean;
    readsAfterWait?: boolean;
  } = {},
) {
  const message = { applicationId, applicantId, waitMs, unmasked, readsAfterWait };
  const { pull, fileJson, documentPath, hasWaited } = await client.readCreditFile(
    message,
    asIntegration(retailerId, options),
  );
  const file: CreditFile | undefined = fileJson === '' ? undefined : JSON.parse(fileJson);
  return { pull, state: PullState[pull?.state ?? 0], file, documentPath, hasWaited };
}

/** Waits for the latest pull to end, and reads the file. */
export function readEnded(service: TestCreditFiles, applicant: TestApplicant) {
  return read(service, applicant, { waitMs: 30_000 });
}
