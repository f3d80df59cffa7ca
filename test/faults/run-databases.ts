/** The databases of the platform under test: what they store of a run, and whether work remains. */
import type { TOPICS } from '@creditlane/events/topics';
import { type DatabaseOwner, SERVICES } from '@creditlane/platform/services';
import { eventually } from '../platform/eventually.ts';
import { connect, runSql } from '../platform/run-sql.ts';
import type { DeliveryRecord, OverdueAttempt, StoredDecision } from './history/history.ts';
import { markerOf } from './history/marker.ts';

/** Returns the current URL of a service's database. */
export type FindDatabase = (owner: DatabaseOwner) => Promise<string>;

/** The services that have an outbox. */
export const PUBLISHERS: readonly DatabaseOwner[] = SERVICES.flatMap((service) =>
  'publishes' in service ? [service.name] : [],
);

const DECISIONS_TOPIC = 'creditlane.decisions.v1' satisfies keyof typeof TOPICS;

interface DecisionRow {
  application_id: string;
  sequence: number;
  conditions: string | null;
  decision: string;
}

/** Reads what the databases store of one run's applications. */
export class RunDatabases {
  readonly #find: FindDatabase;
  readonly #applications: string[];

  constructor(find: FindDatabase, applications: string[]) {
    this.#find = find;
    this.#applications = applications;
  }

  /** The stored decisions, those of each application in the order of their sequence. */
  async readDecisions(): Promise<StoredDecision[]> {
    const rows = await runSql<DecisionRow>(
      await this.#find('decisions'),
      `SELECT application_id, seq AS sequence, conditions, decision FROM decisions
       WHERE application_id = ANY ($1::uuid[]) ORDER BY application_id, seq`,
      [this.#applications],
    );
    return rows.map(fromRow);
  }

  /** The decisions in the outbox's events, in the order in which the events are published. */
  async readEvents(): Promise<StoredDecision[]> {
    const rows = await runSql<DecisionRow>(
      await this.#find('decisions'),
      `SELECT payload ->> 'applicationId' AS application_id,
         (payload ->> 'sequence')::int AS sequence,
         payload -> 'decision' ->> 'conditions' AS conditions,
         replace(payload -> 'decision' ->> 'decision', 'DECISION_VALUE_', '') AS decision
       FROM outbox WHERE topic = $1 AND key = ANY ($2::text[]) ORDER BY id`,
      [DECISIONS_TOPIC, this.#applications],
    );
    return rows.map(fromRow);
  }

  /** The deliveries that are recorded as delivered now. */
  async readDelivered(): Promise<DeliveryRecord[]> {
    const rows = await runSql<{ id: string }>(
      await this.#find('webhook-dispatcher'),
      `SELECT id FROM deliveries WHERE state = 'delivered' AND application_id = ANY ($1::uuid[])`,
      [this.#applications],
    );
    const atMs = performance.now();
    return rows.map(({ id }) => ({ webhookId: id, atMs }));
  }

  /** The attempts that the dispatcher has recorded as failed by its deadline. */
  async readOverdueAttempts(): Promise<OverdueAttempt[]> {
    const rows = await runSql<{ id: string; started_at: Date; duration_ms: number }>(
      await this.#find('webhook-dispatcher'),
      `SELECT d.id, a.started_at, a.duration_ms
       FROM attempts AS a JOIN deliveries AS d ON d.id = a.delivery_id
       WHERE a.failure = 'deadline' AND d.application_id = ANY ($1::uuid[])`,
      [this.#applications],
    );
    return rows.map(({ id, started_at, duration_ms }) => {
      const fromMs = started_at.getTime() - performance.timeOrigin;
      return { webhookId: id, fromMs, untilMs: fromMs + duration_ms };
    });
  }

  /**
   * Resolves when every event is published and consumed, and every webhook is delivered or given up.
   * Throws an error that names the remaining work when `timeoutMs` has passed.
   */
  async waitUntilSettled(timeoutMs: number): Promise<void> {
    let remaining = '';
    const poll = async () => {
      remaining = await this.#describeRemainingWork().catch(
        (error: Error) => `a query failed: ${error.message}`,
      );
      return remaining === '' ? true : undefined;
    };
    await eventually('settled platform', poll, timeoutMs).catch((cause) => {
      throw new Error(`work remains after ${timeoutMs} ms: ${remaining}`, { cause });
    });
  }

  /** Names the first kind of work that remains; empty when there is none. */
  async #describeRemainingWork(): Promise<string> {
    for (const owner of PUBLISHERS) {
      const [row] = await runSql<{ count: number }>(
        await this.#find(owner),
        `SELECT count(*)::int AS count FROM outbox
         WHERE published_at IS NULL AND key = ANY ($1::text[])`,
        [this.#applications],
      );
      if (row?.count) return `${row.count} events of ${owner} to be published`;
    }
    // A long run has thousands of events, so their ids are only read once nothing else remains.
    const unsent = await this.#describeUnsent([]);
    if (unsent !== '') return unsent;
    const events = await runSql<{ event_id: string }>(
      await this.#find('decisions'),
      'SELECT event_id FROM outbox WHERE topic = $1 AND key = ANY ($2::text[])',
      [DECISIONS_TOPIC, this.#applications],
    );
    return this.#describeUnsent(events.map(({ event_id }) => event_id));
  }

  /** One query counts both, because an event that is consumed in between becomes a webhook to send. */
  async #describeUnsent(eventIds: string[]): Promise<string> {
    const [row] = await runSql<{ unconsumed: number; unsent: number }>(
      await this.#find('webhook-dispatcher'),
      `SELECT (SELECT count(*)::int FROM unnest($1::uuid[]) AS id
           WHERE NOT EXISTS (SELECT FROM inbox WHERE event_id = id)) AS unconsumed,
         (SELECT count(*)::int FROM deliveries
           WHERE state IN ('waiting', 'due') AND application_id = ANY ($2::uuid[])) AS unsent`,
      [eventIds, this.#applications],
    );
    if (row?.unconsumed) return `${row.unconsumed} events to be consumed by the dispatcher`;
    return row?.unsent ? `${row.unsent} webhooks to be sent` : '';
  }
}

function fromRow({ application_id, sequence, conditions, decision }: DecisionRow): StoredDecision {
  return {
    submission: application_id,
    sequence,
    decision,
    marker: markerOf(application_id, conditions),
  };
}

/**
 * Locks every submission in a database while `work` runs, so that each write of a decision waits for
 * its row. `waitForBlocked` resolves once that many writes wait.
 */
export async function withLockedSubmissions(
  url: string,
  work: (waitForBlocked: (count: number) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const client = await connect(url);
  const waitForBlocked = (count: number) =>
    eventually(`${count} blocked writes`, async () => {
      // A write waits for the row's tuple lock or for the transaction that holds the row.
      const { rows } = await client.query(
        `SELECT count(DISTINCT pid)::int FROM pg_locks
         WHERE NOT granted AND locktype IN ('tuple', 'transactionid')`,
      );
      return rows[0].count >= count || undefined;
    });
  try {
    await client.query('BEGIN');
    await client.query('SELECT FROM submissions FOR UPDATE');
    await work(waitForBlocked);
  } finally {
    await client.end();
  }
}
