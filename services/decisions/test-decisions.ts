/** The decisions service on a database of its own, with the neighbours that a test speaks through. */
import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { create, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { toMessage } from '@creditlane/events/message';
import { decodeEvent } from '@creditlane/events/topics';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { ApplicationSubmittedSchema } from '@creditlane/proto/applications/v1/applications_events';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import type { DecisionRecorded } from '@creditlane/proto/decisions/v1/decisions_events';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import { type CallContext, type Client, connect } from '@creditlane/rpc/client';
import { type Fault, notFound } from '@creditlane/rpc/fault';
import {
  type Identity,
  makeIdentityKeys,
  TokenSigner,
  TokenVerifier,
} from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory-server';
import { type Handlers, implement } from '@creditlane/rpc/service';
import { Closers } from '@creditlane/runtime/closers';
import { Health } from '@creditlane/runtime/health';
import { createLog } from '@creditlane/runtime/log';
import { Metrics } from '@creditlane/runtime/metrics';
import pg from 'pg';
import { startDecisions } from './app.ts';
import type { DecisionsConfig } from './config.ts';

/** A submission as the applications service has it. */
export type Submitted = MessageInitShape<typeof ApplicationSubmittedSchema> & {
  applicationId: string;
  creditorId: string;
  retailerId: string;
};

export const WORKSHEET = {
  firstPaymentDate: '2026-01-15',
  frequency: PaymentFrequency.MONTHLY,
  interestRate: 7.5,
  term: 60,
};

/** What stands in for the applications service: it knows the submissions put here, or fails. */
export interface ApplicationsStandIn {
  submissions: Submitted[];
  /** What GetSubmission is to throw instead. */
  failure: Fault | undefined;
  /** How often it was asked. */
  asked: number;
}

export interface TestDecisions {
  client: Client<typeof DecisionsService>;
  applications: ApplicationsStandIn;
  /** Every DecisionRecorded that was published, in that order. */
  events: DecisionRecorded[];
  /** To look into the database with, and to get in the service's way. */
  pool: pg.Pool;
  /** Does the work while somebody else holds the submission's row locked. */
  whileHeld(submission: Submitted, work: () => Promise<unknown>): Promise<void>;
  /** The processes of the database that wait for a lock. */
  lockWaiters(): Promise<number[]>;
  /** Publishes ApplicationSubmitted and waits until the service has handled it. */
  submit(submission: Submitted, eventId?: string): Promise<void>;
  /** Waits until every event of the service has been published. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** A submission nobody has heard of, to a creditor of its own. */
export function newSubmission(): Submitted {
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

/** Starts the service; the caller closes it. */
export async function startTestDecisions(
  config: Partial<DecisionsConfig> = {},
): Promise<TestDecisions> {
  const database = await createTestDatabase('decisions');
  const log = createLog('decisions', { level: 'silent' });
  const process = { log, metrics: new Metrics(), closers: new Closers(), health: new Health() };
  const { metrics, closers } = process;
  closers.add('test database', database.drop);
  const bus = createInProcessBus();
  closers.add('bus', () => bus.close());

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

  const keys = { gateway: makeIdentityKeys(), decisions: makeIdentityKeys() };
  const trusted = { gateway: keys.gateway.publicKey, decisions: keys.decisions.publicKey };
  const signerOf = (issuer: keyof typeof keys) =>
    new TokenSigner({ issuer, privateKey: keys[issuer].privateKey });
  const mount = (audience: string, routes: Parameters<typeof mountInMemory>[0]) => {
    const verifier = new TokenVerifier({ audience, trusted });
    return {
      kind: 'memory',
      transport: mountInMemory(routes, { verifier, log, metrics }),
    } as const;
  };

  const applications: ApplicationsStandIn = { submissions: [], failure: undefined, asked: 0 };
  const service = await startDecisions(
    { databaseUrl: database.url, databasePoolSize: 8, lockTimeoutMs: 2_000, ...config },
    {
      process,
      bus,
      signer: signerOf('decisions'),
      peers: { applications: mount('applications', [standInFor(applications)]) },
    },
  );
  const pool = new pg.Pool({ connectionString: database.url, max: 4 });
  closers.add('test pool', () => pool.end());

  return {
    client: connect(DecisionsService, mount('decisions', service.routes), {
      signer: signerOf('gateway'),
      audience: 'decisions',
    }),
    applications,
    events,
    pool,
    async whileHeld({ applicationId }, work) {
      const holder = await pool.connect();
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
      const { rows } = await pool.query<{ pid: number }>(
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

function submittedEvent(submission: Submitted, id: string) {
  return {
    id,
    topic: 'creditlane.applications.v1',
    key: submission.applicationId,
    type: 'creditlane.applications.v1.ApplicationSubmitted',
    payload: toJson(ApplicationSubmittedSchema, create(ApplicationSubmittedSchema, submission)),
    time: new Date(),
  } as const;
}

function standInFor(state: ApplicationsStandIn) {
  const unused = () => Promise.reject(new Error('the decisions service has no business here'));
  const handlers: Handlers<typeof ApplicationsService> = {
    createApplication: unused,
    getApplication: unused,
    submitApplication: unused,
    locateApplication: unused,
    async getSubmission({ applicationId, creditorId }) {
      state.asked += 1;
      if (state.failure) throw state.failure;
      const known = state.submissions.find(
        (it) => it.applicationId === applicationId && it.creditorId === creditorId,
      );
      if (!known) throw notFound('submission_not_found', 'There is no such submission.');
      const { retailerId, worksheet = {} } = known;
      return { retailerId, worksheet, submittedAt: '2026-01-02T03:04:05.678Z' };
    },
  };
  return implement(ApplicationsService, handlers);
}
