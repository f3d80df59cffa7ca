/**
 * Shares the open circuit breakers of all replicas through the database, so that a destination that fails gets one
 * request at a time, at intervals that grow from a second to two minutes, whatever the number of replicas, and also
 * after a restart. A replica learns within POLL_MS what another one has found out, within IDLE_POLL_MS while it is idle.
 */
import type { Database } from '@creditlane/postgres/database';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { mapQueryResult, type Query, runQuery } from '@creditlane/postgres/statement';
import { startPeriodicTask } from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { DestinationLog } from '../destinations/destination-log.ts';
import {
  claimProbesQuery,
  closeBreakersQuery,
  failProbesQuery,
  giveBackProbesQuery,
  listBreakersQuery,
  openBreakersQuery,
  requestProbesQuery,
} from '../store/breakers.ts';
import { listRatesQuery } from '../store/rates.ts';
import type { Backlog } from './backlog.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { BreakerChange, OpenBreakers } from './open-breakers.ts';
import type { DestinationRates } from './rates/destination-rates.ts';

const OPENS = 'the circuit breaker of a webhook destination opens';
const CLOSES = 'the circuit breaker of a webhook destination closes';

export interface SharedBreakersDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  /** Gets a line when a circuit breaker opens or closes: one of all replicas writes it. */
  readonly destinationLog: DestinationLog;
  readonly queue: DeliveryQueue;
  readonly breakers: OpenBreakers;
  readonly backlog: Pick<Backlog, 'add'>;
  readonly rates: Pick<DestinationRates, 'ids'>;
  /** Gets the destinations that are paused or limited, whenever they have been read. */
  onHeldBack(destinationIds: readonly string[]): void;
  readonly leaseMs: number;
  /** How long an exchange with a receiver may take. */
  readonly deadlineMs: number;
}

const POLL_MS = 1_000;
/** While nothing is queued and no circuit breaker is known to be open. */
const IDLE_POLL_MS = 5_000;
/** For the signature and the record of a probe, beside its request. */
const PROBE_MARGIN_MS = 10_000;

/** `close` resolves once the last changes are written, and no more probes are claimed. */
export function startSharingBreakers(deps: SharedBreakersDeps): { close(): Promise<void> } {
  const { log, queue, breakers } = deps;
  const tryTo = async (step: (deps: SharedBreakersDeps) => Promise<void>) => {
    try {
      await step(deps);
    } catch (err) {
      log.warn({ err }, 'circuit breakers of webhook destinations cannot be shared');
    }
  };
  const task = startPeriodicTask(POLL_MS, async () => {
    await tryTo(share);
    return queue.size === 0 && breakers.size === 0 ? IDLE_POLL_MS : POLL_MS;
  });
  breakers.onChange = task.wake;
  return {
    async close() {
      await task.close();
      await tryTo(writeChanges);
    },
  };
}

/** Writes the own changes, reads those of the others, and claims the probes that are due. */
async function share(deps: SharedBreakersDeps): Promise<void> {
  const { pool, queue, breakers, rates, leaseMs, deadlineMs } = deps;
  await writeChanges(deps);
  // Rate limits change seldom. They are read here because it takes no round trip of its own.
  const [stored, storedRates] = await runPipeline(pool, [listBreakersQuery(), listRatesQuery()]);
  queue.shareRates(storedRates);
  queue.shareBreakers(stored);
  deps.onHeldBack([...breakers.paused, ...rates.ids]);
  if (queue.suspectsLeft === 0 || !stored.some(({ isDue }) => isDue)) return;
  const leasedAtMs = performance.now();
  const probeMs = deadlineMs + PROBE_MARGIN_MS;
  const probes = await runQuery(pool, claimProbesQuery(queue.suspectsLeft, { probeMs, leaseMs }));
  for (const { destinationId, id } of probes) breakers.addProbe(destinationId, id);
  queue.add(probes, leasedAtMs);
}

/** Each statement is a transaction of its own, so that replicas cannot deadlock. */
async function writeChanges(deps: SharedBreakersDeps): Promise<void> {
  const { pool, destinationLog, breakers, backlog } = deps;
  const changes = breakers.takeChanges();
  const requested = breakers.takeRequested();
  try {
    for (const query of queriesOf(changes, requested, destinationLog)) await runQuery(pool, query);
  } catch (err) {
    breakers.restore(changes, requested);
    throw err;
  }
  const closed = closedOf(changes);
  if (closed.length > 0) backlog.add(closed);
}

function* queriesOf(
  changes: ReadonlyMap<string, BreakerChange>,
  requested: ReadonlyMap<string, number>,
  destinationLog: DestinationLog,
): Generator<Query<unknown>> {
  const opened = new Map<string, number>();
  const reopened: string[] = [];
  const failed = new Map<string, string>();
  const unsent = new Map<string, string>();
  for (const [id, change] of changes) {
    if (change.kind === 'opened' || change.kind === 'reopened') opened.set(id, change.revision);
    if (change.kind === 'reopened') reopened.push(id);
    if (change.kind === 'probe_failed') failed.set(id, change.probeId);
    if (change.kind === 'probe_unsent') unsent.set(id, change.probeId);
  }
  const closed = closedOf(changes);
  const logged = (query: Query<{ id: string }[]>, message: string) =>
    mapQueryResult(query, (rows) => {
      for (const { id } of rows) destinationLog('info', id, message);
    });
  if (reopened.length > 0) yield logged(closeBreakersQuery(reopened), CLOSES);
  if (opened.size > 0) yield logged(openBreakersQuery(opened), OPENS);
  if (failed.size > 0) yield failProbesQuery(failed);
  if (unsent.size > 0) yield giveBackProbesQuery(unsent);
  if (requested.size > 0) yield requestProbesQuery(requested);
  if (closed.length > 0) yield logged(closeBreakersQuery(closed), CLOSES);
}

function closedOf(changes: ReadonlyMap<string, BreakerChange>): string[] {
  return [...changes].filter(([, { kind }]) => kind === 'closed').map(([id]) => id);
}
