/**
 * The reconciler of a consumer: compares continuously what its sources have written with what it has handled.
 *
 * A round asks a source for the ids of the events that it has published since the last one. Once the consumer has
 * handled everything that was on the bus at the time of the answer, each of them must be in its inbox, or a dead
 * letter, and must have had its effects. What is missing then is lost, however long the consumer was behind, and
 * however the clocks differ by which ids are made; `written-events.ts` says which records a late clock hides. Each
 * round compares up to 1,000 missing events again, in turn; an event is missing no more once it is republished.
 */
import { randomUUID } from 'node:crypto';
import type { Subscription } from '@creditlane/events/bus';
import { OutboxService } from '@creditlane/proto/messaging/v1/outbox_service';
import { connectPeer, type PeerClientOptions } from '@creditlane/rpc/peer-client';
import { pause } from '@creditlane/runtime/concurrency/pause';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import { NIL_UUID } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type pg from 'pg';
import {
  advanceSource,
  type Difference,
  deleteResolved,
  findUnhandled,
  leaseSource,
  readReconciliation,
  updateKinds,
} from './differences.ts';

/**
 * A missing event is found within some 35 s while there is little to compare: it is asked for when it is 5 s old, in every
 * second round, and compared in the next one.
 */
const EVERY_MS = 10_000;
/**
 * How many parts a round asks for, each of 2,000 rows of the outbox or 2,000 records. What a source writes beyond that between
 * two comparisons (50,000 events, or 25,000 where its records are read, too) waits for the next one.
 */
const MAX_PARTS = 25;
/** Events that one comparison reads: with 7,000, webhooks on the same core waited for 80 ms. */
const MAX_COMPARED = 500;
/** After each part and each comparison a round pauses this many times as long as it took. */
const PAUSE_FACTOR = 4;
/**
 * Limits the pauses of one round together. The rounds of the sources run one after the other, and begin again EVERY_MS after the
 * last one. A source that has no round for LEASE_SECONDS (`differences.ts`) is taken over by another replica, which asks anew.
 */
const MAX_PAUSES_MS = 2_000;
const MAX_REVISITED = 1_000;
const MAX_LOGGED = 10;

/** What was written, as one answer or several say. */
export interface WrittenPart {
  readonly eventIds: readonly string[];
  readonly position: string;
  readonly hasMore: boolean;
  /**
   * Whether the next events cannot be listed, because a transaction in any database of the server may still commit an id
   * before them.
   */
  readonly heldUpByTransaction: boolean;
}

/** A service whose events are consumed. */
export interface Source {
  readonly name: string;
  /** Rejects when `stop` aborts. */
  list(position: string, stop: AbortSignal): Promise<WrittenPart>;
}

export interface ReconcilerOptions {
  readonly pool: pg.Pool;
  /** The consumer group, and the service that asks. */
  readonly consumer: string;
  readonly sources: readonly Source[];
  readonly subscription: Pick<Subscription, 'handledUntilMs'>;
  /**
   * Of these events, those that were handled and have fewer effects than their rows in the inbox expect. Of the events
   * `known` an earlier call has said so.
   */
  findTooFewEffects?(
    pool: pg.Pool,
    eventIds: readonly string[],
    known: ReadonlySet<string>,
  ): Promise<string[]>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly everyMs?: number;
}

/** A called service as a source. The consumer is ready without it: only the comparison needs the source. */
export function sourceAt<Peer extends string>(
  name: Peer,
  peers: Omit<PeerClientOptions<Peer>, 'health'>,
): Source {
  const client = connectPeer(OutboxService, name, peers);
  return { name, list: (position, signal) => client.listWrittenEvents({ position }, { signal }) };
}

/** Events that a source has written, to be compared once the consumer has handled what was published before. */
interface Pending {
  readonly from: string;
  readonly position: string;
  readonly eventIds: readonly string[];
  /** As in the last `WrittenPart`: `compared_at` then stays as it is. */
  readonly heldUpByTransaction: boolean;
  /** By performance.now(). */
  readonly askedAtMs: number;
}

/** Compares until closed. Of several replicas, one compares a source at a time. */
export function startReconciler(options: ReconcilerOptions): PeriodicTask {
  const { sources, consumer, log, everyMs = EVERY_MS } = options;
  measure(options);
  const rounds = sources.map((source) => ({ source, round: createRound(options, source) }));
  return startPeriodicTask(
    everyMs,
    async (stop) => {
      for (const { source, round } of rounds) {
        if (stop.aborted) return;
        await round(stop).catch((err) => {
          if (stop.aborted) return;
          const fields = { err, consumer, source: source.name };
          log.warn(fields, 'what a service has written cannot be compared with what was handled');
        });
      }
    },
    { pauseFirst: true },
  );
}

function createRound(options: ReconcilerOptions, source: Source) {
  const { pool, consumer, subscription, log } = options;
  const holder = randomUUID();
  let pending: Pending | undefined;
  let revisitedTo: string = NIL_UUID;

  const compare = async (
    { position, eventIds, heldUpByTransaction }: Pending,
    pauses: Pauses,
  ): Promise<void> => {
    const found = await findDifferences(options, eventIds, pauses);
    const reached = { position, isUpToDate: !heldUpByTransaction };
    const added = await advanceSource(pool, { source: source.name, holder }, reached, found);
    for (const [kind, ofKind] of Map.groupBy(added, (difference) => difference.kind)) {
      const eventIds = ofKind.slice(0, MAX_LOGGED).map(({ eventId }) => eventId);
      const fields = { consumer, source: source.name, kind, missing: ofKind.length, eventIds };
      log.error(fields, 'events that were written have not had their effect');
    }
  };

  const revisit = async (open: readonly Difference[], pauses: Pauses): Promise<void> => {
    const ids = open.map(({ eventId }) => eventId);
    revisitedTo = ids.length === MAX_REVISITED ? (ids.at(-1) ?? NIL_UUID) : NIL_UUID;
    const withTooFew = open.filter(({ kind }) => kind === 'too_few_effects');
    const known = new Set(withTooFew.map(({ eventId }) => eventId));
    const found = await findDifferences(options, ids, pauses, known);
    await updateKinds(pool, found);
    const missing = new Set(found.map(({ eventId }) => eventId));
    await deleteResolved(
      pool,
      ids.filter((id) => !missing.has(id)),
    );
  };

  return async (stop: AbortSignal): Promise<void> => {
    const pauses = new Pauses(stop);
    const leased = await leaseSource(
      pool,
      { source: source.name, holder },
      revisitedTo,
      MAX_REVISITED,
    );
    if (leased === undefined) return;
    const { position, open } = leased;
    await revisit(open, pauses);
    if (pending?.from !== position) pending = await ask(source, position, pauses);
    const isHandled =
      pending.eventIds.length === 0 || subscription.handledUntilMs() >= pending.askedAtMs;
    if (!isHandled) return;
    const handled = pending;
    pending = undefined;
    await compare(handled, pauses);
  };
}

/** What the source has written since the position, as far as MAX_PARTS go. */
async function ask(source: Source, from: string, pauses: Pauses): Promise<Pending> {
  const eventIds = new Set<string>();
  let position = from;
  let heldUpByTransaction = false;
  for (let parts = 0; parts < MAX_PARTS; parts += 1) {
    const startedMs = performance.now();
    const part = await source.list(position, pauses.stop);
    ({ position, heldUpByTransaction } = part);
    for (const id of part.eventIds) eventIds.add(id);
    if (!part.hasMore) break;
    await pauses.after(startedMs);
  }
  const askedAtMs = performance.now();
  return { from, position, eventIds: [...eventIds], heldUpByTransaction, askedAtMs };
}

/** Returns those of the events that are missing. The events `known` have had too few effects in an earlier round. */
async function findDifferences(
  { pool, consumer, findTooFewEffects }: ReconcilerOptions,
  eventIds: readonly string[],
  pauses: Pauses,
  known: ReadonlySet<string> = new Set(),
): Promise<Difference[]> {
  const found: Difference[] = [];
  for (let at = 0; at < eventIds.length; at += MAX_COMPARED) {
    const startedMs = performance.now();
    const slice = eventIds.slice(at, at + MAX_COMPARED);
    const unhandled = await findUnhandled(pool, consumer, slice);
    const tooFew = (await findTooFewEffects?.(pool, slice, known)) ?? [];
    found.push(
      ...unhandled.map((eventId) => ({ eventId, kind: 'not_handled' as const })),
      ...tooFew.map((eventId) => ({ eventId, kind: 'too_few_effects' as const })),
    );
    if (at + MAX_COMPARED < eventIds.length) await pauses.after(startedMs);
  }
  return found;
}

/** The pauses of one round, in which requests and webhooks have the cores. */
class Pauses {
  readonly stop: AbortSignal;
  #leftMs = MAX_PAUSES_MS;

  constructor(stop: AbortSignal) {
    this.stop = stop;
  }

  /** Pauses after work that began at `startedMs` (performance.now()). Rejects when `stop` aborts. */
  async after(startedMs: number): Promise<void> {
    const pauseMs = Math.min(this.#leftMs, PAUSE_FACTOR * (performance.now() - startedMs));
    this.#leftMs -= pauseMs;
    await pause(pauseMs, this.stop);
    this.stop.throwIfAborted();
  }
}

function measure({ pool, consumer, sources, metrics }: ReconcilerOptions): void {
  const age = metrics.gauge(
    'reconciliation_age_seconds',
    'Since what a service has written was last compared with what its consumer has handled.',
    ['consumer', 'source'],
  );
  const missingEvents = metrics.gauge(
    'missing_events',
    'Events that were written and have not had their effect, though everything published is handled.',
    ['consumer', 'source', 'kind'],
  );
  metrics.onScrape(['missing_events', 'reconciliation_age_seconds'], async () => {
    for (const { name: source } of sources) {
      for (const kind of ['not_handled', 'too_few_effects']) {
        missingEvents.set({ consumer, source, kind }, 0);
      }
    }
    for (const { source, ageSeconds, kind, missing } of await readReconciliation(pool)) {
      age.set({ consumer, source }, ageSeconds);
      if (kind !== null) missingEvents.set({ consumer, source, kind }, missing);
    }
  });
}
