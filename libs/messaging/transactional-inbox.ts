/**
 * The transactional inbox: a consumer handles each event once, in one transaction with the rows that
 * it writes for the event. An event that cannot be handled becomes a dead letter and blocks no other. An event that even alone
 * exceeds the time limit of a statement does not become one, because a busy database has the same effect: the event is tried
 * again until it succeeds, and the later events of its partition wait. The log names it, and CreditlaneEventsNotCompared fires.
 *
 * A batch is applied in one round trip where `writeInOneRoundTrip` can, and otherwise in two. When a statement takes longer than
 * it may, the batch is applied in chunks, which are halved until they are fast enough. When the database or `planWrites` refuses
 * an event, each event of the chunk is applied alone: three times, before it becomes a dead letter.
 */
import type { EventMessage } from '@creditlane/events/message';
import { type DecodedEvent, decodeEvent, UndecodableEventError } from '@creditlane/events/topics';
import {
  isTimeLimit,
  isTransientError,
  isUniqueViolation,
} from '@creditlane/postgres/error-classes';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { defineStatement, type Query } from '@creditlane/postgres/statement';
import { type PlannedWrites, runReadWriteTransaction } from '@creditlane/postgres/transaction';
import { AdaptiveChunks } from '@creditlane/runtime/concurrency/adaptive-chunks';
import { isCanonicalUuid } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import { endSpansAfter, type Span, startSpan } from '@creditlane/runtime/telemetry/tracing';
import type pg from 'pg';
import { storeDeadLetter } from './dead-letters/dead-letters.ts';

/** How often an event is tried in a transaction of its own before it becomes a dead letter. */
const TRIES = 3;
const OUTCOMES = ['applied', 'repeated', 'dead_lettered'] as const;
type Outcome = (typeof OUTCOMES)[number];
/** How long batches take two round trips after one that could not be applied in one: what prevented it may last. */
const TWO_ROUND_TRIPS_FOR_MS = 1_000;

/** The head of the INSERT by which `writeInOneRoundTrip` inserts all events of its batch. */
export const insertInboxSql = 'INSERT INTO inbox (consumer, event_id, expected_effects)';

/** The SQL statements of a migration that creates the inbox, which needs `createDeadLettersSql` too. */
export const createInboxSql: readonly string[] = [
  `CREATE TABLE inbox (
    consumer text NOT NULL,
    event_id uuid NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer, event_id)
  )`,
  'CREATE INDEX inbox_age ON inbox USING brin (received_at)',
];

/** An event as a consumer receives it. */
export type ReceivedEvent = DecodedEvent & {
  id: string;
  key: string;
  /** Of the span of the handling: the parent of spans that follow from it. */
  traceparent: string | undefined;
};

export interface InboxOptions<Prefetched, Read, Committed> {
  /** The name of the consumer group, which the inbox stores with each event. */
  consumer: string;
  pool: pg.Pool;
  log: Log;
  metrics: Metrics;
  /**
   * Returns the queries that write the effects of the new events, in their order. `planWrites` may run
   * twice for the same events, so all of its effects must be in the returned queries. What it throws
   * is the failure of one of the events.
   */
  planWrites(
    events: readonly ReceivedEvent[],
    prefetched: Prefetched,
    read: Read,
  ): PlannedWrites<Committed>;

  // What follows may be left out. It stands in the order in which it runs.

  /**
   * Fetches from other services what `planWrites` needs for a batch. Runs before the transaction, so
   * that a slow service keeps no rows locked. When it rejects, the bus delivers the batch again.
   */
  prefetch?(events: readonly ReceivedEvent[]): Promise<Prefetched>;
  /**
   * Returns the query that takes the locks under which the batch is read and written. It runs before all others, as a
   * statement of its own: only a later statement sees what the transaction that held a lock has committed.
   */
  lockQuery?(events: readonly ReceivedEvent[], prefetched: Prefetched): Query<unknown> | undefined;
  /**
   * Returns a query that inserts the events into the inbox (`insertInboxSql`), then writes their effects, in one round trip
   * with the locks; or undefined for events whose effects need `readQuery`. The result of the query is undefined when it
   * has written nothing, as it must when an event is in the inbox already: then the batch is read and planned, as it is when
   * another process inserts an event meanwhile. What `writeInOneRoundTrip` throws is the failure of one of the events.
   */
  writeInOneRoundTrip?(
    events: readonly ReceivedEvent[],
    prefetched: Prefetched,
  ): Query<Committed | undefined> | undefined;
  /**
   * How many effects the event must have, as the reconciler counts them, by what is known before `planWrites`. Left
   * out by a consumer whose effects are not counted.
   */
  expectedEffects?(event: ReceivedEvent, prefetched: Prefetched): number;
  /**
   * Returns the query for what `planWrites` needs from the consumer's own database. It runs in the
   * transaction, after the insert into the inbox, for all events of the batch, repeated ones included.
   */
  readQuery?(events: readonly ReceivedEvent[], prefetched: Prefetched): Query<Read>;
  /**
   * Called with the `result` of `planWrites`, or that of `writeInOneRoundTrip`, after the commit. A batch with an event that
   * cannot be handled is committed event by event. Not called when the connection is lost before the answer to
   * the commit. Must not throw.
   */
  onCommitted?(committed: Committed): void;
}

/** A message, its event, and the span of its handling. */
interface Received {
  message: EventMessage;
  event: ReceivedEvent;
  span: Span;
}

/**
 * Returns the handler to subscribe with. It resolves once the effects of every message are committed,
 * now or earlier, or the message is a dead letter. A batch that takes longer than a statement may is applied
 * in parts. It rejects only while the database is unavailable or busy, or when `prefetch` rejects: then the
 * bus delivers the batch again.
 */
export function createInboxHandler<Committed, Prefetched = undefined, Read = undefined>(
  options: InboxOptions<Prefetched, Read, Committed>,
): (messages: EventMessage[]) => Promise<void> {
  const inbox = new TransactionalInbox(options);
  return (messages) => inbox.handle(messages);
}

class TransactionalInbox<Prefetched, Read, Committed> {
  readonly #options: InboxOptions<Prefetched, Read, Committed>;
  readonly #countHandled: (outcome: Outcome, count: number) => void;
  readonly #chunks = new AdaptiveChunks();
  #twoRoundTripsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: InboxOptions<Prefetched, Read, Committed>) {
    this.#options = options;
    this.#countHandled = measureHandled(options.metrics, options.consumer);
  }

  async handle(messages: readonly EventMessage[]): Promise<void> {
    const { received, undecodable } = receiveAll(messages, this.#options.consumer);
    if (received.length > 0) {
      await endSpansAfter(
        received.map(({ span }) => span),
        this.#applyBatch(received),
      );
    }
    // Last: a batch that is rejected comes again, and a message without an id would be stored each time.
    for (const { message, error } of undecodable) await this.#storeAsDeadLetter(message, error);
  }

  async #applyBatch(batch: readonly Received[]): Promise<void> {
    const { prefetch } = this.#options;
    // Without `prefetch` the type Prefetched is undefined.
    const prefetched = (await prefetch?.(batch.map(({ event }) => event))) as Prefetched;
    // The effects of a whole batch may take longer than a statement may; a smaller one makes progress.
    await this.#chunks.run(batch, (chunk) => this.#applyChunk(chunk, prefetched), isTimeLimit);
  }

  async #applyChunk(chunk: readonly Received[], prefetched: Prefetched): Promise<void> {
    try {
      await this.#applyEvents(
        chunk.map(({ event }) => event),
        prefetched,
      );
    } catch (error) {
      if (chunk.length === 1 && isTimeLimit(error)) this.#warnOfTimeLimit(chunk[0]?.message, error);
      if (isTransientError(error)) throw error;
      // One event made the whole transaction fail: one transaction for each event shows which.
      for (const received of chunk) await this.#applyAlone(received, prefetched);
    }
  }

  async #applyAlone({ message, event, span }: Received, prefetched: Prefetched): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#applyEvents([event], prefetched);
      } catch (error) {
        if (isTransientError(error)) throw error;
        if (attempt < TRIES) continue;
        await this.#storeAsDeadLetter(message, error);
        return span.end('dead_lettered');
      }
    }
  }

  /** Applies the events that are not in the inbox yet, in one transaction. */
  async #applyEvents(events: readonly ReceivedEvent[], prefetched: Prefetched): Promise<void> {
    if (await this.#applyInOneRoundTrip(events, prefetched)) return;
    await this.#applyInTwoRoundTrips(events, prefetched);
  }

  /** Resolves to whether the events were all new and are applied. */
  async #applyInOneRoundTrip(
    events: readonly ReceivedEvent[],
    prefetched: Prefetched,
  ): Promise<boolean> {
    if (performance.now() < this.#twoRoundTripsUntilMs) return false;
    if (new Set(events.map(({ id }) => id)).size < events.length) return false;
    const { pool, lockQuery, writeInOneRoundTrip, onCommitted } = this.#options;
    const write = writeInOneRoundTrip?.(events, prefetched);
    if (write === undefined) return false;
    const lock = lockQuery?.(events, prefetched);
    const [, committed] = await runPipeline(pool, [lock, write]).catch((error: unknown) => {
      if (isInboxKeyViolation(error)) return [];
      throw error;
    });
    if (committed === undefined) {
      this.#twoRoundTripsUntilMs = performance.now() + TWO_ROUND_TRIPS_FOR_MS;
      return false;
    }
    onCommitted?.(committed);
    this.#countHandled('applied', events.length);
    return true;
  }

  async #applyInTwoRoundTrips(
    events: readonly ReceivedEvent[],
    prefetched: Prefetched,
  ): Promise<void> {
    const { pool, planWrites, onCommitted } = this.#options;
    const reads = this.#readsOf(events, prefetched);
    const applied = await runReadWriteTransaction(pool, reads, ([, inserted, read]) => {
      const newIds = new Set(inserted.map(({ eventId }) => eventId));
      // `delete` is true once for each id, so an event that is twice in the batch counts once.
      const newEvents = events.filter(({ id }) => newIds.delete(id));
      if (newEvents.length === 0) return { writes: [], result: undefined };
      // Without `readQuery` the type Read is undefined.
      const { writes, result } = planWrites(newEvents, prefetched, read as Read);
      return { writes, result: { count: newEvents.length, committed: result } };
    });
    if (applied !== undefined) onCommitted?.(applied.committed);
    const count = applied?.count ?? 0;
    this.#countHandled('applied', count);
    this.#countHandled('repeated', events.length - count);
  }

  /**
   * The queries that run before `planWrites`: the locks, then the insert into the inbox, then the read. `writeInOneRoundTrip`
   * has the same order, so that two processes with the same events cannot deadlock. Versions that lock in another order may run
   * beside this one during an upgrade: a batch may then fail by a deadlock, and comes again.
   */
  #readsOf(events: readonly ReceivedEvent[], prefetched: Prefetched) {
    const { consumer, lockQuery, expectedEffects, readQuery } = this.#options;
    const ids = events.map(({ id }) => id);
    const expected = events.map((event) => expectedEffects?.(event, prefetched) ?? null);
    return [
      lockQuery?.(events, prefetched),
      insertNewEvents.query([consumer, ids, expected]),
      readQuery?.(events, prefetched),
    ] as const;
  }

  #warnOfTimeLimit(message: EventMessage | undefined, err: unknown): void {
    const fields = { err, consumer: this.#options.consumer, ...(message && eventFields(message)) };
    this.#options.log.warn(
      fields,
      'an event alone takes too long; later events of its partition wait',
    );
  }

  async #storeAsDeadLetter(message: EventMessage, err: unknown): Promise<void> {
    const { pool, consumer, log } = this.#options;
    await storeDeadLetter(pool, consumer, message, err);
    this.#countHandled('dead_lettered', 1);
    const fields = { err, consumer, ...eventFields(message) };
    log.error(fields, 'an event cannot be handled and was stored as a dead letter');
  }
}

/** Inserts the ids of the events ($2) with their expected effects ($3) for the consumer ($1) and returns those that are new. */
const insertNewEvents = defineStatement<{ eventId: string }>(
  'inbox_claim',
  `${insertInboxSql}
   SELECT $1, * FROM unnest($2::uuid[], $3::integer[])
   ON CONFLICT DO NOTHING RETURNING event_id AS "eventId"`,
);

/**
 * Whether another process has inserted one of the events in the meantime. `lockQuery` need not lock each event, so the insert
 * may wait for that of the other process.
 */
function isInboxKeyViolation(error: unknown): boolean {
  if (!(error instanceof Error && 'constraint' in error)) return false;
  const key = String(error.constraint);
  return /^inbox(_\w+)?_pkey$/.test(key) && isUniqueViolation(error, key);
}

/** What the log says of an event. */
function eventFields({ headers }: EventMessage) {
  const { ce_id: eventId, ce_type: type, traceparent } = headers;
  return { eventId, type, traceId: traceIdOf(traceparent) };
}

function measureHandled(metrics: Metrics, consumer: string) {
  const handled = metrics.counter(
    'inbox_events_total',
    'Events received by a consumer, by outcome: applied, repeated, or dead_lettered.',
    ['consumer', 'outcome'],
  );
  const count = (outcome: Outcome, events: number) => handled.inc({ consumer, outcome }, events);
  for (const outcome of OUTCOMES) count(outcome, 0);
  return count;
}

/** Decodes the messages. Bytes that are no event now are none at the next attempt either. */
function receiveAll(messages: readonly EventMessage[], consumer: string) {
  const received: Received[] = [];
  const undecodable: { message: EventMessage; error: unknown }[] = [];
  for (const message of messages) {
    try {
      received.push(receive(message, consumer));
    } catch (error) {
      undecodable.push({ message, error });
    }
  }
  return { received, undecodable };
}

function receive(message: EventMessage, consumer: string): Received {
  const { ce_id: id = '', traceparent: parent } = message.headers;
  if (!isCanonicalUuid(id))
    throw new UndecodableEventError('the message has no ce_id that is a UUID');
  const decoded = decodeEvent(message);
  const span = startSpan(`handle ${message.topic}`, {
    kind: 'consumer',
    parent,
    attributes: {
      'messaging.consumer.group.name': consumer,
      'messaging.destination.name': message.topic,
      'messaging.message.id': id,
    },
  });
  const { traceparent } = span;
  return { message, event: { ...decoded, id, key: message.key, traceparent }, span };
}
