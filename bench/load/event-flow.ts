/** Events that are appended, published and handled, without a platform around them. */
import type { EventMessage } from '@creditlane/events/message';
import { appendToOutbox } from '@creditlane/messaging/outbox';
import { startRelay } from '@creditlane/messaging/relay';
import { createInboxHandler } from '@creditlane/messaging/transactional-inbox';
import type { Database } from '@creditlane/postgres/database';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';

/** Events that are appended in one transaction. */
const BATCH_EVENTS = 20;

const log = createLog('bench', { level: 'error', pretty: true });

/** A relay whose bus is an inbox of the same database; `run` resolves to the time of each batch until it is handled. */
export function startEventFlow(database: Database) {
  const metrics = new Metrics();
  let handled: (() => void) | undefined;
  let missing = 0;
  const handle = createInboxHandler({
    ...{ consumer: 'bench', pool: database.pool, log, metrics },
    planWrites: (events) => ({ writes: [], result: events.length }),
    onCommitted(count) {
      missing -= count;
      if (missing === 0) handled?.();
    },
  });
  const bus = {
    publish: (batch: EventMessage[]) => handle(batch),
    subscribe: () => Promise.reject(new Error('not used in this measurement')),
    close: () => Promise.resolve(),
  };
  const relay = startRelay({ database, bus, source: 'decisions', log, metrics });
  const events = Array.from({ length: BATCH_EVENTS }, (_, n) => ({
    topic: 'creditlane.decisions.v1' as const,
    key: `key ${n}`,
    type: 'creditlane.decisions.v1.DecisionRecorded' as const,
    payload: { applicationId: 'x'.repeat(600) },
  }));
  return {
    async run(batches: number): Promise<number[]> {
      const timesMs: number[] = [];
      for (let batch = 0; batch < batches; batch += 1) {
        const startedMs = performance.now();
        missing = BATCH_EVENTS;
        const done = new Promise<void>((resolve) => {
          handled = resolve;
        });
        await appendToOutbox(database.pool, events);
        relay.wake();
        await done;
        timesMs.push(performance.now() - startedMs);
      }
      await relay.settled();
      return timesMs;
    },
    close: () => relay.close(),
  };
}
