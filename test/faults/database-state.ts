/** What the databases say at the end of a run, and whether it is the end. */
import type { TOPICS } from '@creditlane/events/topics';
import { DATABASES, type DatabaseOwner } from '@creditlane/platform/services';
import pg from 'pg';
import { eventually } from '../platform/eventually.ts';
import type { Kept, Recorded } from './history/history.ts';
import { markOf } from './history/marker.ts';

/** Gives the connection URL of a service's database as it is at present. */
export type FindDatabase = (owner: DatabaseOwner) => Promise<string>;

const DECISIONS_TOPIC = 'creditlane.decisions.v1' satisfies keyof typeof TOPICS;

interface KeptRow {
  application_id: string;
  sequence: number;
  conditions: string | null;
  decision: string;
}

/** The decisions in the database, each application's in their order. */
export async function readDecisions(find: FindDatabase, applications: string[]): Promise<Kept[]> {
  const rows = await query<KeptRow>(
    await find('decisions'),
    `SELECT application_id, seq AS sequence, conditions, decision FROM decisions
     WHERE application_id = ANY ($1::uuid[]) ORDER BY application_id, seq`,
    [applications],
  );
  return rows.map(keptOf);
}

/** The events of decisions, in the order in which they are published. */
export async function readEvents(find: FindDatabase, applications: string[]): Promise<Kept[]> {
  const rows = await query<KeptRow>(
    await find('decisions'),
    `SELECT payload ->> 'applicationId' AS application_id, (payload ->> 'sequence')::int AS sequence,
       payload -> 'decision' ->> 'conditions' AS conditions,
       replace(payload -> 'decision' ->> 'decision', 'DECISION_VALUE_', '') AS decision
     FROM outbox WHERE topic = $1 AND key = ANY ($2::text[]) ORDER BY id`,
    [DECISIONS_TOPIC, applications],
  );
  return rows.map(keptOf);
}

/** The deliveries that are recorded as done by now. */
export async function readRecorded(
  find: FindDatabase,
  applications: string[],
): Promise<Recorded[]> {
  const rows = await query<{ id: string }>(
    await find('webhook-dispatcher'),
    `SELECT id FROM deliveries WHERE state = 'delivered' AND application_id = ANY ($1::uuid[])`,
    [applications],
  );
  const atMs = performance.now();
  return rows.map(({ id }) => ({ webhookId: id, atMs }));
}

/**
 * Resolves when every event of these applications was published and taken in, and every webhook has been
 * accepted or given up.
 */
export async function untilQuiet(
  find: FindDatabase,
  applications: string[],
  timeoutMs: number,
): Promise<void> {
  let last = '';
  const ask = async () => {
    last = await whatIsLeft(find, applications).catch(
      (error: Error) => `no answer: ${error.message}`,
    );
    return last === '' ? true : undefined;
  };
  await eventually('quiet', ask, timeoutMs).catch((cause) => {
    throw new Error(`there is still work left: ${last}`, { cause });
  });
}

async function whatIsLeft(find: FindDatabase, applications: string[]): Promise<string> {
  for (const owner of ['applications', 'decisions'] as const) {
    const [row] = await query<{ left: number }>(
      await find(owner),
      `SELECT count(*)::int AS left FROM outbox
       WHERE published_at IS NULL AND key = ANY ($1::text[])`,
      [applications],
    );
    if (row?.left) return `${row.left} events of ${owner} to be published`;
  }
  // In a long run there are thousands of events: they are asked for when all else is quiet.
  const unsent = await whatIsUnsent(find, applications, []);
  if (unsent !== '') return unsent;
  const events = await query<{ event_id: string }>(
    await find('decisions'),
    'SELECT event_id FROM outbox WHERE topic = $1 AND key = ANY ($2::text[])',
    [DECISIONS_TOPIC, applications],
  );
  const eventIds = events.map(({ event_id }) => event_id);
  return whatIsUnsent(find, applications, eventIds);
}

/** Asks for both at one moment: what was not taken in yet will have to be sent. */
async function whatIsUnsent(
  find: FindDatabase,
  applications: string[],
  eventIds: string[],
): Promise<string> {
  const [row] = await query<{ unheard: number; unsent: number }>(
    await find('webhook-dispatcher'),
    `SELECT (SELECT count(*)::int FROM unnest($1::uuid[]) AS id
         WHERE NOT EXISTS (SELECT FROM inbox WHERE event_id = id)) AS unheard,
       (SELECT count(*)::int FROM deliveries
         WHERE state IN ('waiting', 'due') AND application_id = ANY ($2::uuid[])) AS unsent`,
    [eventIds, applications],
  );
  if (row?.unheard) return `${row.unheard} events to be taken in by the dispatcher`;
  return row?.unsent ? `${row.unsent} webhooks to be sent` : '';
}

/** The URL of a service's database on a server at this port of this machine. */
export function databaseUrl(owner: DatabaseOwner, password: string, port: number): string {
  return `postgres://${DATABASES[owner]}:${encodeURIComponent(password)}@127.0.0.1:${port}/${DATABASES[owner]}`;
}

/** Runs one statement on a connection of its own, which no fault of an earlier one has spoilt. */
export async function query<Row extends object>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // The query under way reports it.
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/**
 * Does something while all submissions in this database are held, so that a write of a decision waits
 * for its row; `waiting` resolves once so many do.
 */
export async function whileHeld(
  url: string,
  work: (waiting: (count: number) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const holder = new pg.Client({ connectionString: url });
  holder.on('error', () => undefined); // The query under way reports it.
  await holder.connect();
  const waiting = (count: number) =>
    eventually(`${count} writes that wait`, async () => {
      // Rows are waited for as tuples and as the transactions that hold them.
      const { rows } = await holder.query(
        `SELECT count(DISTINCT pid)::int FROM pg_locks
         WHERE NOT granted AND locktype IN ('tuple', 'transactionid')`,
      );
      return rows[0].count >= count || undefined;
    });
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM submissions FOR UPDATE');
    await work(waiting);
  } finally {
    await holder.end();
  }
}

function keptOf({ application_id, sequence, conditions, decision }: KeptRow): Kept {
  return {
    submission: application_id,
    sequence,
    decision,
    mark: markOf(application_id, conditions),
  };
}
