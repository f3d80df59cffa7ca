/** Publishes what is in the outbox: in order per key, at least once, and without waiting for more. */

import { isDatabaseUnavailable } from '@creditlane/postgres/error-classes';
import { startRetention } from '@creditlane/postgres/retention';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type pg from 'pg';
import { createPublisher, type PublisherOptions } from './outbox-publisher.ts';
import { hasUnpublishedEvents } from './outbox-rows.ts';
import { RelayNotifications } from './relay-notifications.ts';
import { purgeOutbox } from './retention.ts';
import { ShardLeases } from './shard-leases.ts';

/** Only the net below the wake-up calls; they carry the traffic. */
const POLL_MS = 250;
const BACKOFF = { baseMs: 100, capMs: 5_000 };

export interface Relay {
  /** To be called after the commit of an event: whoever has its shard publishes it at once. */
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
export function startRelay(options: PublisherOptions): Relay {
  const { pool, log, source, metrics } = options;
  const wake = new WakeSignal();
  const leases = new ShardLeases(pool, log, () => wake.signal());
  const calls = new RelayNotifications(pool, log, () => wake.signal());
  measureLeases(leases, source, metrics);
  const retention = startRetention({ pool, log, purges: [purgeOutbox] });
  const rounds = new WakeSignal();
  const stop = new AbortController();
  const publish = createPublisher(options, stop.signal);

  const run = async () => {
    const pause = new WakeSignal();
    for (let failures = 0; !stop.signal.aborted; rounds.signal()) {
      try {
        const more = await publish(leases);
        failures = 0;
        if (!more) await wake.wait(POLL_MS, stop.signal);
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
    wake() {
      wake.signal();
      // Alone, or as the one that has all the shards, a relay has nobody to call.
      if (!leases.holdsAll()) calls.call();
    },
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
      await Promise.all([leases.close(), calls.close(), retention.close()]);
    },
  };
}

/** An outbox that cannot be looked into may hold anything. */
async function mayHaveUnpublished(pool: pg.Pool): Promise<boolean> {
  try {
    return await hasUnpublishedEvents(pool);
  } catch (error) {
    if (isDatabaseUnavailable(error)) return true;
    throw error;
  }
}

function measureLeases(leases: ShardLeases, source: string, metrics: Metrics): void {
  const help = 'Shards of the outbox that this process publishes; over all processes, all of them.';
  metrics.gauge('outbox_shards_held', help, ['source'], (gauge) => {
    gauge.set({ source }, leases.held().length);
  });
}
