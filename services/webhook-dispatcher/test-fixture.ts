/** A dispatcher with its dependencies, for tests: PostgreSQL, a bus, an integrations service, receivers. */
import { randomUUID } from 'node:crypto';
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { type EventMessage, toMessage } from '@creditlane/events/message';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import { TokenSigner } from '@creditlane/rpc/identity';
import { mountForTest } from '@creditlane/rpc/test-mount';
import { readSettings } from '@creditlane/runtime/setting';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { localSettings } from '@creditlane/service/settings';
import { startService } from '@creditlane/service/start-service';
import { expect, vi } from 'vitest';
import { startWebhookDispatcher, type WebhookDispatcherContext } from './app.ts';
import { webhookSources } from './events/webhook-sources.ts';
import { webhookDispatcher } from './service.ts';
import { SERVICE } from './service-name.ts';
import { createTestApplications } from './test-applications.ts';
import { openDispatcherDatabase } from './test-deliveries.ts';
import { createTestIntegrations } from './test-integrations.ts';
import { type Received, startReceiver } from './test-receiver.ts';

/** What a test sets of a recorded decision. */
export interface TestDecision {
  applicationId?: string;
  creditorId?: string;
  sequence?: number;
  decision?: string;
  conditions?: string;
  /** `null`: the decision has no terms. */
  terms?: object | null;
  eventId?: string;
}

/** The longest that a lease may be. When a machine pauses the process until a lease has ended, its delivery is sent again. */
const LONGEST_LEASE = '30s';
const ENVIRONMENT = {
  DATABASE_POOL_SIZE: '4',
  EGRESS_ALLOW_HTTP: 'true',
  EGRESS_ALLOW_LOOPBACK: 'true',
  DESTINATIONS_CACHE: '0ms',
  RETRY_DELAYS: '50ms,50ms,50ms,50ms',
  LEASE: LONGEST_LEASE,
};

/** One retailer, one creditor, one application, and the receivers that the test adds. The database has its tables unless it is given. */
export async function createTestFixture(openDatabase = openDispatcherDatabase) {
  const database = await openDatabase();
  const closing: (() => Promise<unknown>)[] = [() => database.drop()];
  const receivers: { close(): Promise<void> }[] = [];
  const ids = { retailerId: randomUUID(), creditorId: randomUUID(), applicationId: randomUUID() };
  const identity = generateIdentityKeys();
  const signer = new TokenSigner({ issuer: SERVICE, privateKey: identity.privateKey });
  const integrations = createTestIntegrations(identity.publicKey);
  closing.push(() => integrations.close());
  const applications = createTestApplications(identity.publicKey);
  closing.push(() => applications.close());

  const environment = { DATABASE_URL: database.url, ...ENVIRONMENT };

  /** Starts a dispatcher; several may share the database. `sourcesOf` replaces the list of sources. */
  async function start(settings: Record<string, string> = {}, sourcesOf = webhookSources) {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const process = createTestProcess('webhook-dispatcher', destination, 'debug');
    const bus = createInProcessBus({
      consumers: {
        'creditlane.decisions.v1': [SERVICE],
        'creditlane.integrations.v1': [SERVICE],
        'creditlane.applications.v1': [SERVICE],
      },
    });
    const service = {
      ...webhookDispatcher,
      start: (context: WebhookDispatcherContext) => startWebhookDispatcher(context, sourcesOf),
    };
    const values = readSettings({ ...environment, ...settings }, localSettings(service));
    const endpoints = endpointsOf(integrations, applications);
    const dispatcher = await startService(service, values, { process, bus, endpoints, signer });
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= bus.close().then(() => process.closers.close()));
    closing.push(close);
    const clients = mountForTest('webhook-dispatcher', dispatcher.routes, ['gateway'], process);
    return {
      ...dispatcher,
      bus,
      clients,
      metrics: () => process.metrics.text(),
      /** The lines of the log, those at debug included. */
      logged: (): object[] => lines.map((line) => JSON.parse(line)),
      close,
    };
  }

  return {
    ...ids,
    environment,
    /** The private key that a dispatcher signs its calls with. */
    identityKey: identity.privateKey,
    integrations,
    applications,
    database,
    sql: database.sql,
    connect: database.connect,
    start,
    /** Adds a receiver with a destination of its own, which receives every event. */
    async addReceiver() {
      const receiver = await startReceiver();
      receivers.push(receiver);
      return { ...receiver, ...integrations.add(receiver.url) };
    },
    event: (decision: TestDecision = {}): EventMessage =>
      eventOf({ ...ids, ...decision }, ids.retailerId),
    async close() {
      // A dispatcher that closes waits three seconds for requests that are under way.
      await Promise.all(receivers.map((receiver) => receiver.close()));
      for (const close of closing.reverse()) await close();
    },
  };
}

export type TestFixture = Awaited<ReturnType<typeof createTestFixture>>;
export type Dispatcher = Awaited<ReturnType<TestFixture['start']>>;
/** With its destination. */
export type Receiver = Awaited<ReturnType<TestFixture['addReceiver']>>;

function endpointsOf(
  integrations: ReturnType<typeof createTestIntegrations>,
  { endpoint: applications }: ReturnType<typeof createTestApplications>,
) {
  // Only the reconciler asks decisions, and has tests of its own.
  return { integrations: integrations.endpoint, applications, decisions: applications };
}

/** Repeats the check until it throws no more, and resolves with its result; after 15 seconds rejects with its error. */
export const until = <T>(check: () => T | Promise<T>) =>
  vi.waitFor(check, { timeout: 15_000, interval: 10 });

/** Resolves once the one delivery was leased and released without an attempt. */
export function waitForRelease({ sql }: TestFixture): Promise<void> {
  const released = async () => {
    const { rows } = await sql.query('SELECT fence > 2 AS released FROM deliveries');
    expect(rows).toEqual([{ released: true }]);
  };
  return until(released);
}

const TERMS = {
  firstPaymentDate: '2026-04-01',
  frequency: 'PAYMENT_FREQUENCY_MONTHLY',
  interestRate: 6.99,
};

function eventOf(
  decision: Required<Pick<TestDecision, 'applicationId' | 'creditorId'>> & TestDecision,
  retailerId: string,
) {
  const {
    applicationId,
    creditorId,
    sequence = 1,
    eventId = randomUUID(),
    terms = TERMS,
  } = decision;
  const time = new Date();
  return toMessage(
    {
      id: eventId,
      topic: 'creditlane.decisions.v1',
      key: applicationId,
      type: 'creditlane.decisions.v1.DecisionRecorded',
      payload: {
        applicationId,
        creditorId,
        retailerId,
        sequence: String(sequence),
        recordedAt: time.toISOString(),
        decision: {
          decision: `DECISION_VALUE_${decision.decision ?? 'BOOKED'}`,
          ...(decision.conditions && { conditions: decision.conditions }),
        },
        ...(terms && { terms: { ...terms } }),
        worksheet: TERMS,
      },
      time,
    },
    'decisions',
  );
}

/** The `webhook-sequence` of each request. */
export function sequences(received: readonly Received[]): number[] {
  return received.map(({ headers }) => Number(headers['webhook-sequence']));
}

/** The numbers from 1 to `count`. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n + 1);
}
