/** The conversations service on a database of its own, beside a fake applications service. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { type Comment, DeliveryState, Side } from '@creditlane/proto/conversations/v1/comment';
import { ConversationsService } from '@creditlane/proto/conversations/v1/conversations_service';
import type { CallContext } from '@creditlane/rpc/client';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import type { Identity } from '@creditlane/rpc/identity';
import { mountForTest } from '@creditlane/rpc/test-mount';
import { readSettings } from '@creditlane/runtime/setting';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { localSettings } from '@creditlane/service/settings';
import { startService } from '@creditlane/service/start-service';
import { LONGEST_LOCK_TIMEOUT } from '@creditlane/service/test-lock-timeout';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { conversations } from './service.ts';
import { startFakeApplications, submittedTo } from './test-applications.ts';

export type TestConversations = Awaited<ReturnType<typeof startTestConversations>>;

/** The key ring that the service starts with. */
export const KEYS = `k1:${randomBytes(32).toString('base64')}`;

/** The ids of a submission, its parties, and two eligible users of its retailer. */
export interface TestSubmission {
  applicationId: string;
  creditorId: string;
  retailerId: string;
  userId: string;
}

/** Starts the service; the caller closes it. */
export async function startTestConversations(settings: Record<string, string> = {}) {
  const database = await createTestDatabase('conversations');
  const log: string[] = [];
  const { fake, peers } = startFakeApplications();
  const digestKey = randomBytes(32).toString('base64');
  const start = async (keys: string, applications?: Endpoint, keyRing?: KeyRing) => {
    const write = (line: string) => void log.push(line);
    const process = createTestProcess('conversations', { write });
    const env = {
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: '8',
      KEY_RING: keys,
      REQUEST_DIGEST_KEY: digestKey,
      ...LONGEST_LOCK_TIMEOUT,
      ...settings,
    };
    const values = readSettings(env, localSettings(conversations));
    const stop = () => process.closers.close();
    const deps = { process, ...peers(process, applications) };
    const own = keyRing === undefined ? values.own : { ...values.own, keyRing };
    const { routes } = await startService(conversations, { ...values, own }, deps).catch(
      async (error) => {
        await stop();
        throw error;
      },
    );
    const client = mountForTest('conversations', routes, ['gateway', 'decisions'], process);
    return {
      client: client(ConversationsService, 'gateway'),
      asDecisions: client(ConversationsService, 'decisions'),
      health: process.health,
      stop,
    };
  };
  let running = await start(KEYS);
  return {
    database,
    sql: database.sql,
    log,
    applications: fake,
    get client() {
      return running.client;
    },
    get asDecisions() {
      return running.asDecisions;
    },
    /** Starts another replica, which cannot reach the applications service. The caller stops it. */
    startWithoutApplications: () => start(KEYS, { kind: 'grpc', address: '127.0.0.1:1' }),
    /** Starts another replica, with another key ring. The caller stops it. */
    startWithKeyRing: (keyRing: KeyRing) => start(KEYS, undefined, keyRing),
    /** Stops the service and starts it again on the same database, with another key ring. */
    async restart(keys: string) {
      await running.stop();
      running = await start(keys);
    },
    async close() {
      await running.stop();
      await database.drop();
    },
  };
}

/** A new submission, which the fake applications service has, with an eligible user. */
export function submitNew({ applications }: TestConversations): TestSubmission {
  const submission = {
    applicationId: randomUUID(),
    creditorId: randomUUID(),
    retailerId: randomUUID(),
    userId: randomUUID(),
  };
  const { applicationId, creditorId, retailerId, userId } = submission;
  applications.applications.set(applicationId, submittedTo(retailerId, [creditorId]));
  applications.users.set(`${retailerId} ${userId}`, ['Noor', 'Singh']);
  return submission;
}

export interface ConversationsFixture {
  service: TestConversations;
  /** A new submission in each test. */
  submission: TestSubmission;
}

/** Starts the service for the tests of a file, and makes a new submission before each test. */
export function useSubmission(settings: Record<string, string> = {}): ConversationsFixture {
  const fixture = {} as ConversationsFixture;
  beforeAll(async () => {
    fixture.service = await startTestConversations(settings);
  });
  afterAll(() => fixture.service?.close());
  beforeEach(() => {
    fixture.service.applications.failure = undefined;
    fixture.submission = submitNew(fixture.service);
  });
  return fixture;
}

/** The context of a call by an integration with this scope, and with the permission for retailer comments. */
export function asIntegration(
  scope: { creditorId?: string; retailerId?: string },
  context: Partial<CallContext> & { subject?: string; permissions?: string[] } = {},
): CallContext {
  const { subject = randomUUID(), permissions = ['ENQUEUE_RETAILER_CHAT'], ...others } = context;
  const identity: Identity = { kind: 'integration', subject, permissions, ...scope };
  return { identity, ...others };
}

type Options = Parameters<typeof asIntegration>[1];

/** Comments as the creditor of the submission. */
export function commentAsCreditor(
  { client }: TestConversations,
  { applicationId, creditorId }: TestSubmission,
  comment: string,
  options?: Options,
) {
  const request = { applicationId, creditorId, userName: 'Ines Okafor', comment };
  return client.commentAsCreditor(request, asIntegration({ creditorId }, options));
}

/** Comments as the eligible user of the submission's retailer. */
export function commentAsRetailer(
  { client }: TestConversations,
  { applicationId, creditorId, retailerId, userId }: TestSubmission,
  comment: string,
  options?: Options,
) {
  const request = { applicationId, creditorId, userId, comment };
  return client.commentAsRetailerUser(request, asIntegration({ retailerId }, options));
}

/** Reads a page of the conversation as one side of the submission. */
export async function readAs(
  { client }: TestConversations,
  side: 'CREDITOR' | 'RETAILER',
  { applicationId, creditorId, retailerId }: TestSubmission,
  options: Options & { limit?: number; cursor?: string; discarded?: boolean } = {},
) {
  const { limit = 25, cursor = '', discarded = false, ...context } = options;
  const scope = side === 'CREDITOR' ? { creditorId } : { retailerId };
  const request = { applicationId, creditorId, limit, cursor, discarded };
  return client.getConversation(request, asIntegration(scope, context));
}

/** A comment in the form "RETAILER text: DELIVERED". */
export function inShort({ side, comment, delivery }: Comment): string {
  const state = DeliveryState[delivery?.state ?? DeliveryState.UNSPECIFIED];
  return `${Side[side]} ${comment}: ${state}`;
}
