/** A past for a platform: decisions with their events published, and their webhooks delivered. */
import { type Copying, copyRows, type Past } from './row-copies.ts';
import { run } from './submissions.ts';

const DECISIONS: Copying[] = [
  {
    table: 'decisions',
    original: 'SELECT * FROM decisions WHERE seq > 1 ORDER BY recorded_at DESC LIMIT 1',
    set: {
      application_id: 'past.application_id',
      seq: 'past.seq',
      recorded_at: 'past.at',
      call_id: 'past.event_id',
    },
  },
  {
    table: 'outbox',
    original: 'SELECT * FROM outbox ORDER BY id DESC LIMIT 1',
    set: {
      key: 'past.application_id::text',
      event_id: 'past.event_id',
      payload: `original.payload || jsonb_build_object(
        'applicationId', past.application_id, 'sequence', past.seq)`,
      created_at: 'past.at',
      published_at: 'past.at',
    },
  },
];

const DELIVERED = `SELECT * FROM deliveries WHERE state = 'delivered' ORDER BY position DESC LIMIT 1`;
/** The row of a table that stands for the same. */
const besideIt = (table: string, condition: string) =>
  `SELECT it.* FROM ${table} AS it JOIN (${DELIVERED}) AS delivered ON ${condition}`;

const DELIVERIES: Copying[] = [
  {
    table: 'inbox',
    original: besideIt('inbox', 'it.event_id = delivered.event_id'),
    set: { event_id: 'past.event_id', received_at: 'past.at' },
  },
  {
    table: 'messages',
    original: besideIt('messages', 'it.event_id = delivered.event_id'),
    set: { event_id: 'past.event_id', recorded_at: 'past.at' },
  },
  {
    table: 'attempts',
    original: besideIt('attempts', 'it.delivery_id = delivered.id'),
    set: { delivery_id: 'past.event_id', started_at: 'past.at' },
  },
  {
    table: 'deliveries',
    original: DELIVERED,
    set: {
      id: 'past.event_id',
      event_id: 'past.event_id',
      application_id: 'past.application_id',
      sequence: 'past.seq',
      created_at: 'past.at',
      settled_at: 'past.at',
    },
  },
];

/** Of each application the last alone. */
const lastOf = ({ each }: Past): Copying[] => [
  {
    table: 'submissions',
    original: besideIt('submissions', 'it.application_id = delivered.application_id'),
    set: { application_id: 'past.application_id', seen_sequence: `${each + 1}` },
  },
  {
    table: 'sequences',
    original: besideIt('sequences', 'it.application_id = delivered.application_id'),
    set: { application_id: 'past.application_id', last_sequence: `${each + 1}` },
  },
];

/** Writes the past of the decisions service, like the decision that it recorded last. */
export async function writeDecisions(url: string, past: Past): Promise<void> {
  for (const copying of DECISIONS) await copyRows(url, past, copying);
  await run(url, 'UPDATE submissions SET last_seq = $2 WHERE application_id = ANY ($1)', [
    past.applicationIds,
    past.each + 1,
  ]);
}

/** Writes the same past of the webhook dispatcher, like the webhook that it delivered last. */
export async function writeDeliveries(url: string, past: Past): Promise<void> {
  for (const copying of lastOf(past)) await copyRows(url, { ...past, each: 1 }, copying);
  // The deliveries come last of all: it is the newest one that the others are found by.
  for (const copying of DELIVERIES) await copyRows(url, past, copying);
}
