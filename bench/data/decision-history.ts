/** Past decisions in a platform's tables, with their events published and their webhooks delivered. */
import { copyRows, type PastDecisions, type RowCopy } from './row-copies.ts';
import { runSql } from './sql.ts';

const DECISION_ROWS: RowCopy[] = [
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

const LAST_DELIVERED = `SELECT * FROM deliveries WHERE state = 'delivered' ORDER BY position DESC LIMIT 1`;
/** Selects a table's row that belongs to the last delivered webhook. */
const rowOfLastDelivered = (table: string, condition: string) =>
  `SELECT it.* FROM ${table} AS it JOIN (${LAST_DELIVERED}) AS delivered ON ${condition}`;

const DELIVERY_ROWS: RowCopy[] = [
  {
    table: 'inbox',
    original: rowOfLastDelivered('inbox', 'it.event_id = delivered.event_id'),
    set: { event_id: 'past.event_id', received_at: 'past.at' },
  },
  {
    table: 'messages',
    original: rowOfLastDelivered('messages', 'it.event_id = delivered.event_id'),
    set: { event_id: 'past.event_id', recorded_at: 'past.at' },
  },
  {
    table: 'attempts',
    original: rowOfLastDelivered('attempts', 'it.delivery_id = delivered.id'),
    set: { delivery_id: 'past.event_id', started_at: 'past.at' },
  },
  {
    table: 'deliveries',
    original: LAST_DELIVERED,
    set: {
      id: 'past.event_id',
      position: `nextval('deliveries_position')`,
      event_id: 'past.event_id',
      application_id: 'past.application_id',
      sequence: 'past.seq',
      created_at: 'past.at',
      settled_at: 'past.at',
    },
  },
];

/** The tables with one row per application, which holds its last sequence number. */
const applicationRows = ({ each }: PastDecisions): RowCopy[] => [
  {
    table: 'submissions',
    original: rowOfLastDelivered('submissions', 'it.application_id = delivered.application_id'),
    set: { application_id: 'past.application_id', seen_sequence: `${each + 1}` },
  },
  {
    table: 'sequences',
    original: rowOfLastDelivered('sequences', 'it.application_id = delivered.application_id'),
    set: { application_id: 'past.application_id', last_sequence: `${each + 1}` },
  },
];

/** Inserts copies of the decision that the decisions service recorded last, with its event. */
export async function insertPastDecisions(url: string, past: PastDecisions): Promise<void> {
  for (const rowCopy of DECISION_ROWS) await copyRows(url, past, rowCopy);
  await runSql(url, 'UPDATE submissions SET last_seq = $2 WHERE application_id = ANY ($1)', [
    past.applicationIds,
    past.each + 1,
  ]);
}

/** Inserts copies of the webhook that the dispatcher delivered last, one for each past decision. */
export async function insertPastDeliveries(url: string, past: PastDecisions): Promise<void> {
  for (const rowCopy of applicationRows(past)) await copyRows(url, { ...past, each: 1 }, rowCopy);
  // The deliveries are inserted last, because the other rows are found by the newest delivery.
  for (const rowCopy of DELIVERY_ROWS) await copyRows(url, past, rowCopy);
}
