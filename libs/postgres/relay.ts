/** Publishes what is in the outbox: in order per key, at least once, and without waiting for more. */
import type { EventBus } from '@creditlane/events/bus';
import { type EventMessage, toMessage } from '@creditlane/events/message';
import { backoffMs } from '@creditlane/runtime/backoff';
import type { Log } from '@creditlane/runtime/log';
import type { Metrics } from '@creditlane/runtime/metrics';
import { Wake } from '@creditlane/runtime/wake';
import type pg from 'pg';
import { isOutage } from './outage.ts';
import { ShardLeases } from './outbox-lease.ts';
import {
  anyUnpublished,
  eventOf,
  markPublished,
  type OutboxRow,
  outboxBacklog,
  readUnpublished,
} from './outbox-rows.ts';
import { purgeOutbox, startRetention } from './retention.ts';

/** Only the net below the wake-up calls; they carry the traffic. */
const POLL_MS = 250;
const BACKOFF = { baseMs: 100, capMs: 5_000 };
/** How long a batch under way may take when we are told to close; it is published again otherwise. */
const CLOSE_GRACE_MS = 5_000;

export interface RelayOptions {
  pool: pg.Pool;
  bus: EventBus;
  /** The `ce_source` of the events: whose outbox this is. */
  source: string;
  log: Log;
  metrics: Metrics;
  /** Signalled by those who have committed an event, where they do not call `wake` themselves. */
  wake?: Wake;
}

export interface Relay {
  /** To be called after the commit of an event: publishes at once. */
  wake(): void;
  /** Resolves when the outbox holds nothing unpublished. */
  settled(): Promise<void>;
  /** Finishes the batch under way and gives the shards to others. */
  close(): Promise<void>;
}

/**
 * Publishes the shards that no other relay holds. A batch is what gathered while the last one was
 * under way. Failures are retried for as long as it takes; the rows stay where they are.
 */
export function startRelay(options: RelayOptions): Relay {
  const { pool, log, wake = new Wake() } = options;
  const leases = new ShardLeases(pool, log, () => wake.signal());
  const retention = startRetention({ pool, log, purges: [purgeOutbox] });
  const rounds = new Wake();
  const stop = new AbortController();
  const publish = publisher(options, stop.signal);

  const run = async () => {
    const pause = new Wake();
    for (let failures = 0; !stop.signal.aborted; rounds.signal()) {
      try {
        const published = await publish(leases);
        failures = 0;
        if (published === 0) await wake.wait(POLL_MS, stop.signal);
      } catch (err) {
        failures += 1;
        log.warn({ err, failures }, 'events not published; tried again');
        // Not on `wake`: whoever writes meanwhile must not turn the pause into a storm.
        await pause.wait(backoffMs(failures, BACKOFF), stop.signal);
      }
    }
  };
  const running = run();

  return {
    wake: () => wake.signal(),
    async settled() {
      while (await mayHaveUnpublished(pool)) {
        if (stop.signal.aborted) throw new Error('the relay is closed and the outbox is not empty');
        wake.signal();
        await rounds.wait(POLL_MS, stop.signal);
      }
    },
    async close() {
      stop.abort();
      await running;
      await Promise.all([leases.close(), retention.close()]);
    },
  };
}

/** A function that publishes one round of the shards held, and resolves to how many events that were. */
function publisher({ pool, bus, source, log, metrics }: RelayOptions, stop: AbortSignal) {
  const published = metrics.counter('outbox_published_total', 'Events published.', ['source']);
  measureBacklog(pool, source, metrics);
  const reported = new Set<number>();

  /** An event that cannot be encoded holds up its own key, for order's sake, and no other. */
  const encode = (rows: OutboxRow[]): Map<number, EventMessage> => {
    const messages = new Map<number, EventMessage>();
    const stuck = new Set<string>();
    for (const row of rows) {
      if (stuck.has(row.key)) continue;
      try {
        messages.set(row.id, toMessage(eventOf(row), source));
      } catch (err) {
        stuck.add(row.key);
        if (reported.has(row.id)) continue;
        reported.add(row.id);
        log.error({ err, outboxId: row.id, type: row.type }, 'an event cannot be published');
      }
    }
    return messages;
  };

  return async (leases: ShardLeases): Promise<number> => {
    const held = leases.held();
    if (held.length === 0) return 0;
    const waiting = await readUnpublished.run(pool, [held.map(({ shard }) => shard)]);
    // A process may be stopped at any point; one that slept past its lease has nothing to say.
    const still = new Set(leases.held().map(({ shard }) => shard));
    const messages = encode(waiting.filter(({ shard }) => still.has(shard)));
    if (messages.size === 0) return 0;
    await orStopped(bus.publish([...messages.values()]), stop);
    const marked = await markPublished.run(pool, [
      [...messages.keys()],
      held.map(({ shard }) => shard),
      held.map(({ fence }) => fence),
    ]);
    published.inc({ source }, marked.length);
    if (marked.length < messages.size) {
      leases.doubt();
      log.warn('shards were taken over while publishing; their new holder publishes again');
    }
    return marked.length;
  };
}

/** An outbox that cannot be looked into may hold anything. */
async function mayHaveUnpublished(pool: pg.Pool): Promise<boolean> {
  try {
    return (await anyUnpublished.run(pool)).some(({ any }) => any);
  } catch (error) {
    if (isOutage(error)) return true;
    throw error;
  }
}

/** The work's outcome, or a rejection when it takes too long after `stop`. */
async function orStopped(work: Promise<void>, stop: AbortSignal): Promise<void> {
  let giveUp: NodeJS.Timeout | undefined;
  let onStop = () => {};
  const tooLate = new Promise<never>((_, reject) => {
    onStop = () => {
      giveUp = setTimeout(
        () => reject(new Error('the relay closed before the bus was done')),
        CLOSE_GRACE_MS,
      );
    };
    stop.addEventListener('abort', onStop, { once: true });
    if (stop.aborted) onStop();
  });
  try {
    await Promise.race([work, tooLate]);
  } finally {
    stop.removeEventListener('abort', onStop);
    clearTimeout(giveUp);
  }
}

function measureBacklog(pool: pg.Pool, source: string, metrics: Metrics): void {
  const oldest = metrics.gauge(
    'outbox_oldest_seconds',
    'How long the oldest unpublished event has been waiting.',
    ['source'],
  );
  metrics.gauge('outbox_depth', 'Events not yet published.', ['source'], async (depth) => {
    const [backlog] = await outboxBacklog.run(pool);
    depth.set({ source }, backlog?.depth ?? 0);
    oldest.set({ source }, backlog?.oldest_s ?? 0);
  });
}
