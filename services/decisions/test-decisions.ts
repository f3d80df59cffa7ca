/** The decisions service on a database of its own, between a fake applications service and a fake consumer. */
import { randomUUID } from 'node:crypto';
import { create, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { EventBus } from '@creditlane/events/bus';
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { toMessage } from '@creditlane/events/message';
import { decodeEvent } from '@creditlane/events/topics';
import { createTestDatabase, type TestDatabase } from '@creditlane/postgres/test-database';
import { ApplicationSubmittedSchema } from '@creditlane/proto/applications/v1/applications_events';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { type DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import type { DecisionRecorded } from '@creditlane/proto/decisions/v1/decisions_events';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import type { CallContext, Client } from '@creditlane/rpc/client';
import type { Identity } from '@creditlane/rpc/identity';
import { type CallWrapper, mountForTest } from '@creditlane/rpc/test-mount';
import { readSettings } from '@creditlane/runtime/setting';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { localSettings } from '@creditlane/service/settings';
import { startService } from '@creditlane/service/start-service';
import { LONGEST_LOCK_TIMEOUT } from '@creditlane/service/test-lock-timeout';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { decisions } from './service.ts';
import {
  type FakeApplications,
  startFakeApplications,
  type TestSubmission,
} from './test-applications.ts';

export const WORKSHEET = {
  firstPaymentDate: '2026-01-15',
  frequency: PaymentFrequency.MONTHLY,
  interestRate: 7.5,
  term: 60,
};

export interface TestDecisions {
  client: Client<typeof DecisionsService>;
  /** A client whose calls pass through the wrapper. */
  clientThrough(wrapper: CallWrapper): Client<typeof DecisionsService>;
  applications: FakeApplications;
  /** Every published DecisionRecorded, in the order of publication. */
  events: DecisionRecorded[];
  database: TestDatabase;
  sql: TestDatabase['sql'];
  /** Runs the work while another transaction holds the lock on the submission's row. */
  whileLocked(submission: TestSubmission, work: () => Promise<unknown>): Promise<void>;
  /** The ids of the database's processes that wait for a lock. */
  lockWaiters(): Promise<number[]>;
  /** Publishes ApplicationSubmitted and waits until the service has handled it. */
  submit(submission: TestSubmission, eventId?: string): Promise<void>;
  /** Waits until every event of the service has been published. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** A new submission to a new creditor; no service has it. */
export function newSubmission(): TestSubmission {
  return {
    applicationId: randomUUID(),
    creditorId: randomUUID(),
    retailerId: randomUUID(),
    worksheet: WORKSHEET,
    submittedAt: timestampFromDate(new Date('2026-01-02T03:04:05.678Z')),
  };
}

/** The context of a call by an integration with this scope. */
export function asIntegration(
  scope: { creditorId?: string; retailerId?: string },
  context: Partial<CallContext> & { subject?: string } = {},
): CallContext {
  const { subject = randomUUID(), ...others } = context;
  const identity: Identity = { kind: 'integration', subject, permissions: [], ...scope };
  return { identity, ...others };
}

/** Records a decision as an integration of the submission's creditor: an approval, unless `decision` is another. */
export function decideOn(
  { client }: Pick<TestDecisions, 'client'>,
  { applicationId, creditorId }: TestSubmission,
  decision: MessageInitShape<typeof DecisionSchema> = {},
  context: Parameters<typeof asIntegration>[1] = {},
) {
  return client.recordDecision(
    { applicationId, creditorId, decision: { decision: DecisionValue.APPROVED, ...decision } },
    asIntegration({ creditorId }, context),
  );
}

export interface DecisionsFixture {
  service: TestDecisions;
  /** A new submission in each test. */
  submission: TestSubmission;
}

/** Starts the service for the tests of a file, and submits a new submission before each test. */
export function useSubmission(settings: Record<string, string> = {}): DecisionsFixture {
  const fixture = {} as DecisionsFixture;
  beforeAll(async () => {
    fixture.service = await startTestDecisions(settings);
  });
  afterAll(() => fixture.service.close());
  beforeEach(async () => {
    fixture.submission = newSubmission();
    await fixture.service.submit(fixture.submission);
  });
  return fixture;
}

/** Starts the service; the caller closes it. */
export async function startTestDecisions(
  settings: Record<string, string> = {},
): Promise<TestDecisions> {
  const database = await createTestDatabase('decisions');
  const { url: databaseUrl, sql, drop } = database;
  const process = createTestProcess('decisions');
  const { closers } = process;
  closers.add('test database', drop);
  const bus = createInProcessBus({
    consumers: {
      'creditlane.applications.v1': ['decisions'],
      'creditlane.decisions.v1': ['webhook-dispatcher'],
    },
  });
  closers.add('bus', () => bus.close());
  const events = await collectEvents(bus);

  const { applications, ...peers } = startFakeApplications(process);
  const env = {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '8',
    ...LONGEST_LOCK_TIMEOUT,
    ...settings,
  };
  const values = readSettings(env, localSettings(decisions));
  const service = await startService(decisions, values, { process, bus, ...peers });

  const mount = mountForTest('decisions', service.routes, ['gateway'], process);
  return {
    client: mount(DecisionsService, 'gateway'),
    clientThrough: (wrapper) => mount(DecisionsService, 'gateway', wrapper),
    applications,
    events,
    database,
    sql,
    async whileLocked({ applicationId }, work) {
      const holder = await sql.connect();
      try {
        await holder.query('BEGIN');
        const select = 'SELECT FROM submissions WHERE application_id = $1 FOR UPDATE';
        await holder.query(select, [applicationId]);
        await work();
      } finally {
        await holder.query('ROLLBACK');
        holder.release();
      }
    },
    async lockWaiters() {
      const { rows } = await sql.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.map(({ pid }) => pid);
    },
    submit: (submission, id = randomUUID()) =>
      bus.publish([toMessage(submittedEvent(submission, id), 'applications')]),
    settled: service.settled,
    close: () => closers.close(),
  };
}

/** Consumes in the place of the webhook dispatcher: the bus needs a consumer to publish to. */
async function collectEvents(bus: EventBus): Promise<DecisionRecorded[]> {
  const events: DecisionRecorded[] = [];
  await bus.subscribe({
    group: 'webhook-dispatcher',
    topics: ['creditlane.decisions.v1'],
    async handle(batch) {
      for (const { type, event } of batch.map(decodeEvent)) {
        if (type === 'creditlane.decisions.v1.DecisionRecorded') events.push(event);
      }
    },
  });
  return events;
}

function submittedEvent(submission: TestSubmission, id: string) {
  return {
    id,
    topic: 'creditlane.applications.v1',
    key: submission.applicationId,
    type: 'creditlane.applications.v1.ApplicationSubmitted',
    payload: toJson(ApplicationSubmittedSchema, create(ApplicationSubmittedSchema, submission)),
    time: new Date(),
  } as const;
}
