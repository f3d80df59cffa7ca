/**
 * The relay publishes the events of the outbox: in order per key, at least once, and without waiting
 * for a batch to fill. relay-round.ts follows one event from its row to the bus.
 */
import type { EventBus } from '@creditlane/events/bus';
import type { Database } from '@creditlane/postgres/database';
import { isDatabaseUnavailable } from '@creditlane/postgres/error-classes';
import { startPartitions } from '@creditlane/postgres/partitions/start-partitions';
import { startRetention } from '@creditlane/postgres/retention';
import { defineStatement } from '@creditlane/postgres/statement';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { pause } from '@creditlane/runtime/concurrency/pause';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type pg from 'pg';
import {
  markPublishedDeadLetters,
  OUTBOX_CONSUMER,
  observeDeadLetters,
} from '../dead-letters/dead-letters.ts';
import { hasUnpublishedEvents, unpublishedSql } from '../outbox.ts';
import { earlierOutbox, OUTBOX_PARTITIONS, purgeOutbox } from '../outbox-by-day.ts';
import { PublicationMarks } from './publication-marks.ts';
import { RelayNotifications } from './relay-notifications.ts';
import { RelayRounds } from './relay-round.ts';
import { ShardLeases } from './shard-leases.ts';

/**
 * Finds the events whose wake-up was lost: that of a process that died between the commit and its NOTIFY, or of a commit
 * whose outcome was unknown. All others are published after a call of `wake` or a NOTIFY.
 */
const POLL_MS = 5_000;
const SETTLED_POLL_MS = 250;
const BACKOFF = { baseMs: 100, capMs: 5_000 };
const STEP_BACK_AFTER_MS = 10_000;

export interface RelayOptions {
  /** The leases and the rounds use the reserved connections: they go on while requests use all others. */
  database: Pick<Database, 'pool' | 'reserved'>;
  bus: EventBus;
  /** The `ce_source` of the events: the service whose outbox this is. */
  source: string;
  log: Log;
  metrics: Metrics;
  /** Whether an event that is larger than its topic permits is kept as a dead letter, in a database that has their table. */
  keepsDeadLetters?: boolean;
  /** How late an event is published, at most, whose wake-up was lost. */
  pollMs?: number;
  /** How long a relay that renews nothing keeps its shards. */
  leaseMs?: number;
  /** How long rounds fail before the relay leaves its shards to others: this process alone may not reach the bus. */
  stepBackAfterMs?: number;
}

export interface Relay {
  /** Called after the commit of an event: the relay that holds its shard publishes it at once. */
  wake(): void;
  /** Resolves when the outbox holds no unpublished event. */
  settled(): Promise<void>;
  /** Finishes the round under way and releases the shards. */
  close(): Promise<void>;
}

/**
 * Publishes the shards that no other relay holds, and keeps the outbox: its partitions by day and what is past retention.
 * A batch is what was written while the last one was under way. A round that fails is repeated until it succeeds; its
 * events stay in the outbox.
 */
export function startRelay(options: RelayOptions): Relay {
  const { log, source, metrics, pollMs = POLL_MS, leaseMs } = options;
  const { stepBackAfterMs = STEP_BACK_AFTER_MS, keepsDeadLetters = false } = options;
  const { pool, reserved } = options.database;
  const woken = new WakeSignal();
  const wakeRounds = () => woken.signal();
  const notifications = new RelayNotifications(reserved, log, wakeRounds);
  const shardLeases = new ShardLeases(reserved, log, notifications, wakeRounds, leaseMs);
  const purges = keepsDeadLetters ? [purgeOutbox, markPublishedDeadLetters] : [purgeOutbox];
  const retention = startRetention({ pool, log, purges });
  const tables = [OUTBOX_PARTITIONS];
  const earlier = [earlierOutbox()];
  const partitions = startPartitions({ pool, log, metrics, service: source, tables, earlier });
  measureBacklog(pool, source, metrics);
  if (keepsDeadLetters) observeDeadLetters(metrics, pool, OUTBOX_CONSUMER);
  measureLeases(shardLeases, source, metrics);
  const roundEnded = new WakeSignal();
  const stop = new AbortController();
  const marks = new PublicationMarks({ pool: reserved, shardLeases, source, log, metrics });
  const parts = { reserved, shardLeases, marks, wake: wakeRounds, stop: stop.signal };
  const rounds = new RelayRounds({ ...options, ...parts, keepsDeadLetters, pollMs });

  const run = async () => {
    /** When the first of the rounds failed after which none with shards has succeeded. */
    let failingSinceMs: number | undefined;
    for (let failures = 0; !stop.signal.aborted; ) {
      try {
        if (shardLeases.hasSurplus()) {
          // Otherwise the next relay of these shards would publish their events again.
          await marks.mark();
          shardLeases.handOverSurplus();
        }
        const { publishedCount, hasMore } = await rounds.publishRound();
        failures = 0;
        // A round without shards, as after a step back, shows nothing.
        if (publishedCount > 0 || shardLeases.held().length > 0) failingSinceMs = undefined;
        roundEnded.signal();
        if (!hasMore) await woken.wait(Math.min(pollMs, marks.unmarked.dueInMs()), stop.signal);
      } catch (err) {
        failures += 1;
        roundEnded.signal();
        log.warn({ err, failures }, 'events could not be published; the relay tries again');
        failingSinceMs ??= performance.now();
        if (performance.now() - failingSinceMs >= stepBackAfterMs) {
          await marks.mark();
          if (shardLeases.stepBack()) log.warn('the relay leaves its shards to other relays');
        }
        // Not a wait on `woken`: writes during an outage must not shorten the backoff.
        await pause(backoffMs(failures, BACKOFF), stop.signal);
      }
    }
  };
  const running = run();

  return {
    wake() {
      wakeRounds();
      // A relay that holds all shards publishes every event itself.
      if (!shardLeases.holdsAll()) notifications.notify();
    },
    async settled() {
      while (await mayHaveUnpublished(reserved)) {
        if (stop.signal.aborted) throw new Error('the relay is closed and the outbox is not empty');
        marks.unmarked.makeDue();
        wakeRounds();
        await roundEnded.wait(SETTLED_POLL_MS, stop.signal);
      }
    },
    async close() {
      stop.abort();
      await running;
      await rounds.close();
      await marks.mark();
      await Promise.all([shardLeases.close(), retention.close(), partitions.close()]);
      await notifications.close();
    },
  };
}

/** True, too, when the database cannot be asked: the outbox may hold events then. */
async function mayHaveUnpublished(pool: pg.Pool): Promise<boolean> {
  try {
    return await hasUnpublishedEvents(pool);
  } catch (error) {
    if (isDatabaseUnavailable(error)) return true;
    throw error;
  }
}

/** A count of more would take longer than a statement may, after an outage. */
const MAX_DEPTH = 100_000;

const selectBacklog = defineStatement<{ depth: number; oldestSeconds: number }>(
  'outbox_backlog',
  `SELECT
     (SELECT count(*) FROM (${unpublishedSql('id')} LIMIT ${MAX_DEPTH}) AS counted) AS depth,
     coalesce(extract(epoch FROM now() - min(oldest.created_at)), 0)::float8 AS "oldestSeconds"
   FROM outbox_lease CROSS JOIN LATERAL (
     SELECT created_at FROM outbox WHERE shard = outbox_lease.shard AND published_at IS NULL
     ORDER BY id LIMIT 1
   ) AS oldest`,
);

function measureBacklog(pool: pg.Pool, source: string, metrics: Metrics): void {
  const help = `Events not yet published, counted up to ${MAX_DEPTH}.`;
  const depth = metrics.gauge('outbox_depth', help, ['source']);
  const oldest = metrics.gauge('outbox_oldest_seconds', 'Age of the oldest unpublished event.', [
    'source',
  ]);
  metrics.onScrape(['outbox_depth', 'outbox_oldest_seconds'], async () => {
    const [backlog] = await selectBacklog.run(pool);
    depth.set({ source }, backlog?.depth ?? 0);
    oldest.set({ source }, backlog?.oldestSeconds ?? 0);
  });
}

function measureLeases(shardLeases: ShardLeases, source: string, metrics: Metrics): void {
  const help = 'Shards of the outbox that this process publishes; all shards over all processes.';
  metrics.gauge('outbox_shards_held', help, ['source'], (gauge) => {
    gauge.set({ source }, shardLeases.held().length);
  });
  metrics.gauge('outbox_shards', 'Shards of the outbox.', ['source'], (gauge) => {
    gauge.set({ source }, shardLeases.shards);
  });
}
