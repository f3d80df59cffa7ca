/** The decisions service: the record of what each creditor decided on each application submitted to it. */
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { type Relay, startRelay } from '@creditlane/messaging/relay';
import { purgeInbox } from '@creditlane/messaging/retention';
import { createInboxHandler } from '@creditlane/messaging/transactional-inbox';
import { startRetention } from '@creditlane/postgres/retention';
import { runQuery } from '@creditlane/postgres/statement';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { connect } from '@creditlane/rpc/client';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { type Clock, systemClock } from '@creditlane/runtime/clock';
import { APPLICATIONS_TOPIC, type SubmissionHeard, submissionsHeard } from './events.ts';
import { recordingTogether } from './recording.ts';
import { decisionsRoutes } from './rpc.ts';
import type { DecisionsContext } from './service.ts';
import { startingSubmissions } from './store.ts';

/** The name by which the service signs its calls, consumes events and sends its own. */
const NAME = 'decisions';

/** The running service. It ends with the process's closers. */
export interface Decisions {
  routes: ServiceRoutes[];
  relay: Relay;
  /** Resolves once every event written so far is published. */
  settled(): Promise<void>;
}

/** Starts to consume and to publish events, and returns the routes to mount. */
export async function startDecisions({
  process,
  database,
  bus,
  endpoints,
  signer,
  clock = systemClock,
}: DecisionsContext & { clock?: Clock }): Promise<Decisions> {
  const { log, metrics, closers, health } = process;
  const { pool } = database;
  const relay = startRelay({ pool, bus, source: NAME, log, metrics });
  closers.add('decisions relay', () => relay.close());
  const retention = startRetention({ pool, log, purges: [purgeInbox, purgeIdempotency] });
  closers.add('decisions retention', () => retention.close());

  const handle = createInboxHandler({
    consumer: NAME,
    pool,
    log,
    metrics,
    planWrites: (events) => ({
      writes: [startingSubmissions(submissionsHeard(events))],
      result: undefined,
    }),
  });
  const subscription = await bus.subscribe({
    group: NAME,
    topics: [APPLICATIONS_TOPIC],
    async handle(batch) {
      await handle(batch);
      relay.wake();
    },
  });
  closers.add('decisions subscription', () => subscription.close());

  const applications = connect(ApplicationsService, endpoints.applications, {
    signer,
    audience: 'applications',
    closers,
    // Asked only for what has not been heard of by an event yet.
    health: health.optional,
    metrics,
  });
  const wakeRelay = () => relay.wake();
  const startSubmission = async (heard: SubmissionHeard) => {
    await runQuery(pool, startingSubmissions([heard]));
    wakeRelay();
  };
  const recordDecision = recordingTogether(pool, log);
  const deps = { db: pool, recordDecision, clock, applications, startSubmission, wakeRelay };
  const routes = [decisionsRoutes(deps)];
  return { routes, relay, settled: () => relay.settled() };
}
