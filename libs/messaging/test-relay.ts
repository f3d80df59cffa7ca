/** For the tests: events of decisions, relays, and a bus that records what they publish. */
import { randomUUID } from 'node:crypto';
import { type EventBus, PartlyPublishedError } from '@creditlane/events/bus';
import { type EventMessage, toMessage } from '@creditlane/events/message';
import { decodeEvent } from '@creditlane/events/topics';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { silentLog } from '@creditlane/runtime/test-log';
import type pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { type Relay, type RelayOptions, startRelay } from './relay/relay.ts';

export interface RecordingBus extends EventBus {
  /** What is published, in order. */
  published: EventMessage[];
  /**
   * Called with each batch before it counts as published. What it throws is the failure of the publish; the messages that a
   * `PartlyPublishedError` does not name are published.
   */
  accept: (batch: readonly EventMessage[]) => Promise<void>;
}

/** Creates a bus that accepts every batch until the test says otherwise. */
export function recordingBus(): RecordingBus {
  const bus: RecordingBus = {
    published: [],
    accept: () => Promise.resolve(),
    async publish(batch) {
      try {
        await bus.accept(batch);
        bus.published.push(...batch);
      } catch (error) {
        if (error instanceof PartlyPublishedError) {
          const failed = error.partitions.flatMap((partition) => partition.failed);
          bus.published.push(...batch.filter((message) => !failed.includes(message)));
        }
        throw error;
      }
    },
    subscribe: () => Promise.reject(new Error('a recording bus has no consumers')),
    close: () => Promise.resolve(),
  };
  return bus;
}

export interface TestRelayOptions
  extends Pick<RelayOptions, 'pollMs' | 'leaseMs' | 'stepBackAfterMs' | 'keepsDeadLetters'> {
  log?: Log;
  /** Replaces that of the database. */
  reserved?: pg.Pool;
}

/** Starts a relay of the service decisions. It closes after the test, before what the test has opened and registered earlier. */
export function startTestRelay(
  db: OpenTestDatabase,
  bus: EventBus,
  { reserved = db.reserved, log = silentLog, ...options }: TestRelayOptions = {},
): Relay {
  const { pool, metrics } = db;
  const database = { pool, reserved };
  const relay = startRelay({ ...options, database, bus, source: 'decisions', log, metrics });
  onTestFinished(() => relay.close());
  return relay;
}

/**
 * Holds `performance.now()`, the clock of leases, until the end of the test: a lease of what is started later expires only when
 * the test advances the clock, and not because the machine has paused this process.
 */
export function holdLeaseClock(): void {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** An event of a decision, to be written to the outbox. */
export function decisionEvent(key: string, sequence = 1) {
  return {
    topic: 'creditlane.decisions.v1',
    key,
    type: 'creditlane.decisions.v1.DecisionRecorded',
    payload: { applicationId: key, sequence },
  } as const;
}

/** The same as a consumer receives it. */
export function decisionMessage(key: string, id: string = randomUUID()): EventMessage {
  return toMessage({ ...decisionEvent(key), id, time: new Date() }, 'decisions');
}

/** The keys of the messages, in their order. */
export const keysOf = (messages: readonly EventMessage[]) => messages.map(({ key }) => key);

/** The sequences of the key's decision events among the messages, in their order. */
export function sequencesOf(messages: readonly EventMessage[], key: string): number[] {
  return messages.filter((message) => message.key === key).map(sequenceOf);
}

function sequenceOf(message: EventMessage): number {
  const { type, event } = decodeEvent(message);
  if (type !== 'creditlane.decisions.v1.DecisionRecorded') throw new Error(type);
  return Number(event.sequence);
}

/** The key of each unpublished event, in the order of their writing. */
export async function unpublishedKeys(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ key: string }>(
    'SELECT key FROM outbox WHERE published_at IS NULL ORDER BY id',
  );
  return rows.map(({ key }) => key);
}

/** How many shards each relay holds, most first. */
export async function shardsByHolder(pool: pg.Pool): Promise<number[]> {
  const { rows } = await pool.query<{ shards: number }>(
    `SELECT count(*) AS shards FROM outbox_lease WHERE holder IS NOT NULL GROUP BY holder
     ORDER BY 1 DESC`,
  );
  return rows.map(({ shards }) => shards);
}
