/** Everything between the database and the receivers, wired together. */
import type { Database } from '@creditlane/postgres/database';
import { systemClock } from '@creditlane/runtime/clock';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Destinations } from '../destinations/destinations.ts';
import type { Measures } from '../dispatcher-metrics.ts';
import { Egress } from '../egress/egress.ts';
import { Claimer } from '../queue/claimer.ts';
import type { WebhookDispatcherSettings } from '../service.ts';
import { findUnsettled } from '../store/deliveries.ts';
import { createAttempt } from './attempt.ts';
import { Recorder } from './recorder.ts';
import { Sender } from './sender.ts';

export interface SendingDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly destinations: Destinations;
  readonly measures: Measures;
}

export interface Sending {
  readonly sender: Sender;
  readonly claimer: Claimer;
  /** Resolves when nothing is due and nothing is under way, here or in another process. */
  settled(): Promise<void>;
  /** Begins nothing more, lets what is under way end, and gives the rest back. */
  close(): Promise<void>;
}

/** How long requests under way may go on once the service is closing. */
const CLOSE_GRACE_MS = 3_000;
const SETTLE_POLL_MS = 50;

export function startSending(
  config: WebhookDispatcherSettings,
  { pool, log, destinations, measures }: SendingDeps,
): Sending {
  const { leaseMs, maxInFlight, maxInFlightPerDestination } = config;
  const left = new WakeSignal();
  const egress = new Egress({
    ...config.egress,
    deadlineMs: config.deadlineMs,
    connectionsPerDestination: maxInFlightPerDestination,
  });
  const recorder = new Recorder({
    pool,
    log,
    leaseMs,
    holdMs: config.holdMs,
    patienceMs: config.patienceMs,
    onPromoted: (deliveries, leasedAtMs) => sender.take(deliveries, leasedAtMs),
    onDisabled: (destinationIds) => sender.drop(destinationIds),
  });
  const attempt = createAttempt({
    destinations,
    egress,
    delaysMs: config.retryDelaysMs,
    measures,
    log,
    clock: systemClock,
    random: Math.random,
  });
  const sender: Sender = new Sender({
    pool,
    log,
    attempt,
    recorder,
    leaseMs,
    maxInFlight,
    maxInFlightPerDestination,
    onRoom: (destinationId) => {
      claimer.offerRoom(destinationId);
      left.signal();
    },
  });
  const claimer = new Claimer({ pool, log, sender, leaseMs });

  const waitForRest = async (timeoutMs: number) => {
    const deadlineMs = performance.now() + timeoutMs;
    while (sender.inHand > 0 && performance.now() < deadlineMs) {
      await left.wait(deadlineMs - performance.now());
    }
  };

  return {
    sender,
    claimer,
    async settled() {
      while (sender.inHand > 0 || (await findUnsettled(pool)).due) await left.wait(SETTLE_POLL_MS);
    },
    async close() {
      await claimer.close();
      await sender.close();
      await waitForRest(CLOSE_GRACE_MS);
      await egress.close();
      await waitForRest(CLOSE_GRACE_MS);
      await recorder.close();
    },
  };
}
