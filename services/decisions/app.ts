/** The decisions service: the record of what each creditor decided on each application submitted to it. */
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { startConsumer } from '@creditlane/messaging/consumer';
import { outboxRoutes } from '@creditlane/messaging/reconciliation/written-events';
import { startRelay } from '@creditlane/messaging/relay';
import { createInboxHandler } from '@creditlane/messaging/transactional-inbox';
import { startRetention } from '@creditlane/postgres/retention';
import { runQuery } from '@creditlane/postgres/statement';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { connectPeer } from '@creditlane/rpc/peer-client';
import { systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type {
  ServiceContext,
  WithBus,
  WithCalls,
  WithDatabase,
} from '@creditlane/service/define-service';
import { APPLICATIONS_TOPIC, type ReceivedSubmission, receivedSubmissions } from './events.ts';
import { createInsertInRounds } from './record-decision/insert-in-rounds.ts';
import { decisionsRoutes } from './rpc.ts';
import { selectRecordedEvents } from './store/recorded-events.ts';
import { insertSubmissionsQuery } from './store/submissions.ts';

/** The service's consumer group, and the source of its events. */
const SERVICE = 'decisions';

type DecisionsContext = ServiceContext & WithDatabase & WithBus & WithCalls<'applications'>;

/** Starts consuming and publishing events, and returns the routes to mount. */
export async function startDecisions({
  process,
  database,
  bus,
  endpoints,
  signer,
}: DecisionsContext) {
  const { log, metrics, closers, health } = process;
  const { pool, requests } = database;
  // Of all events only these may be large: the others consist of ids, times and terms.
  const keepsDeadLetters = true;
  const relay = startRelay({ database, bus, source: SERVICE, keepsDeadLetters, log, metrics });
  closers.own('decisions relay', relay);
  const wakeRelay = () => relay.wake();
  const purges = [purgeIdempotency];
  closers.own('decisions retention', startRetention({ pool, log, purges }));

  const handle = createInboxHandler({
    consumer: SERVICE,
    pool,
    log,
    metrics,
    planWrites: (events) => ({
      writes: [insertSubmissionsQuery(receivedSubmissions(events), newId)],
      result: undefined,
    }),
    onCommitted: wakeRelay,
  });
  const consumer = await startConsumer({
    consumer: SERVICE,
    topics: [APPLICATIONS_TOPIC],
    publishers: ['applications'],
    handle,
    bus,
    pool,
    log,
    metrics,
    endpoints,
    signer,
    closers,
  });
  closers.own('decisions consumer', consumer);

  const applications = connectPeer(ApplicationsService, 'applications', {
    endpoints,
    signer,
    closers,
    // The decisions service works without applications, which it calls only for a submission whose
    // event has not arrived.
    health: health.optional,
    metrics,
  });
  // As the owner, as when the event arrives: the caller may be the retailer, who cannot write decisions.
  const insertSubmission = async (received: ReceivedSubmission) => {
    await runQuery(pool, insertSubmissionsQuery([received], newId));
    wakeRelay();
  };
  const insertInRounds = createInsertInRounds(requests, log);
  const deps = {
    requests,
    insertInRounds,
    clock: systemClock,
    newId,
    applications,
    insertSubmission,
    wakeRelay,
  };
  const outbox = outboxRoutes({ pool, selectRecorded: selectRecordedEvents });
  const routes = [decisionsRoutes(deps), outbox];
  return { routes, settled: () => relay.settled() };
}
