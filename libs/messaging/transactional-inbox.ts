/**
 * The inbox: a consumer handles each event once, in one transaction with the effects of handling it,
 * and an event that cannot be handled is put aside with its reason instead of holding up the rest.
 */

import type { EventMessage } from '@creditlane/events/message';
import { type DecodedEvent, decodeEvent, UndecodableEventError } from '@creditlane/events/topics';
import { isTransientError } from '@creditlane/postgres/error-classes';
import type { QueryResults } from '@creditlane/postgres/pipeline';
import { defineStatement, type Query } from '@creditlane/postgres/statement';
import { type PlannedWrites, runReadWriteTransaction } from '@creditlane/postgres/transaction';
import { isCanonicalUuid } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import { endSpansAfter, type Span, startSpan } from '@creditlane/runtime/telemetry/tracing';
import type pg from 'pg';
import { storeDeadLetter } from './dead-letters.ts';

/** How often a message is tried by itself before it is parked. */
const TRIES = 3;

/** The SQL of a migration that creates the inbox; `createDeadLettersSql` belongs beside it. */
export const createInboxSql: readonly string[] = [
  `CREATE TABLE inbox (
    consumer text NOT NULL,
    event_id uuid NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer, event_id)
  )`,
  'CREATE INDEX inbox_age ON inbox USING brin (received_at)',
];

export const dropInboxSql: readonly string[] = ['DROP TABLE inbox'];

/** An event as a consumer gets it. */
export type ReceivedEvent = DecodedEvent & {
  id: string;
  key: string;
  /** Of the handling, for what that causes. */
  traceparent: string | undefined;
};

export interface InboxOptions<Prepared, Known, Applied> {
  /** Names the consumer in the inbox: its group. */
  consumer: string;
  pool: pg.Pool;
  log: Log;
  metrics: Metrics;
  /**
   * Asks others for what `planWrites` needs to know of a batch, before the transaction begins: a peer that
   * is slow keeps no rows locked. When it rejects, the batch comes again.
   */
  prefetch?(events: readonly ReceivedEvent[]): Promise<Prepared>;
  /**
   * What `planWrites` needs to know from the consumer's own database. Asked in the transaction, once the
   * events are claimed, of all of the batch, known from before or not.
   */
  readQuery?(events: readonly ReceivedEvent[], prepared: Prepared): Query<Known>;
  /**
   * The effects of new events, in order. May be asked again with the same events after they were
   * refused, so what it gives to write is all that it does.
   */
  planWrites(
    events: readonly ReceivedEvent[],
    prepared: Prepared,
    known: Known,
  ): PlannedWrites<Applied>;
  /**
   * Gets what `planWrites` gave, once that is committed. A batch with an event that cannot be handled is
   * committed event by event. Not called when the answer to the commit is lost. Must not throw.
   */
  onCommitted?(applied: Applied): void;
}

interface Received {
  message: EventMessage;
  event: ReceivedEvent;
  span: Span;
}

const claimEvents = defineStatement<{ event_id: string }>(
  'inbox_claim',
  `INSERT INTO inbox (consumer, event_id) SELECT $1, unnest($2::uuid[])
   ON CONFLICT DO NOTHING RETURNING event_id`,
);

/**
 * The handler to subscribe with. It resolves once every message is applied, known from before, or
 * parked, and rejects only when the database is away or busy: then the bus brings the batch again.
 */
export function createInboxHandler<Applied, Prepared = undefined, Known = undefined>(
  options: InboxOptions<Prepared, Known, Applied>,
): (batch: EventMessage[]) => Promise<void> {
  const { consumer, pool, log, metrics } = options;
  const handled = metrics.counter(
    'inbox_events_total',
    'Events that came to a consumer, by what became of them.',
    ['consumer', 'outcome'],
  );

  const applyNew = async (batch: Received[], prepared: Prepared): Promise<void> => {
    const events = batch.map(({ event }) => event);
    const claim = claimEvents.query([consumer, events.map(({ id }) => id)]);
    const reads = [claim, options.readQuery?.(events, prepared)] as const;
    type Outcome = PlannedWrites<{ count: number; applied?: { value: Applied } }>;
    const decide = ([claimed, known]: QueryResults<typeof reads>): Outcome => {
      const fresh = new Set(claimed.map(({ event_id }) => event_id));
      // Taking each id out as it is met leaves a repeat within the batch nothing to be.
      const news = events.filter(({ id }) => fresh.delete(id));
      if (news.length === 0) return { writes: [], result: { count: 0 } };
      // Without `readQuery` there is nothing of its type to be known.
      const { writes, result } = options.planWrites(news, prepared, known as Known);
      return { writes, result: { count: news.length, applied: { value: result } } };
    };
    const { count, applied } = await runReadWriteTransaction(pool, reads, decide);
    if (applied) options.onCommitted?.(applied.value);
    handled.inc({ consumer, outcome: 'applied' }, count);
    handled.inc({ consumer, outcome: 'repeated' }, batch.length - count);
  };

  const putAside = async (message: EventMessage, err: unknown): Promise<void> => {
    await storeDeadLetter(pool, consumer, message, err);
    handled.inc({ consumer, outcome: 'parked' });
    const { ce_id: eventId, ce_type: type, traceparent } = message.headers;
    const about = { consumer, eventId, type, traceId: traceIdOf(traceparent) };
    log.error({ err, ...about }, 'an event cannot be handled and was parked');
  };

  const applyAlone = async (received: Received, prepared: Prepared): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await applyNew([received], prepared);
      } catch (error) {
        if (isTransientError(error)) throw error;
        if (attempt < TRIES) continue;
        await putAside(received.message, error);
        return received.span.end('parked');
      }
    }
  };

  const applyAll = async (batch: Received[]): Promise<void> => {
    // Without `prefetch` there is nothing of its type to be given.
    const prepared = (await options.prefetch?.(batch.map(({ event }) => event))) as Prepared;
    try {
      await applyNew(batch, prepared);
    } catch (error) {
      if (isTransientError(error)) throw error;
      // One of them spoils it for all: each by itself finds out which.
      for (const received of batch) await applyAlone(received, prepared);
    }
  };

  return async (messages) => {
    const batch: Received[] = [];
    for (const message of messages) {
      try {
        batch.push(receive(message, consumer));
      } catch (error) {
        // Bytes do not change by waiting.
        await putAside(message, error);
      }
    }
    if (batch.length === 0) return;
    await endSpansAfter(
      batch.map(({ span }) => span),
      applyAll(batch),
    );
  };
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
