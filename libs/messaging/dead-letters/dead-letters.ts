/**
 * Dead letters: events that a consumer could not handle, stored whole with the reason, for an operator. So are the events that the
 * relay could not publish (`OUTBOX_CONSUMER`), which stay in the outbox, too.
 *
 * An operator redrives a dead letter (redrives.ts): the running consumer gets its message again, in a version
 * that can handle it. The inbox does not contain the event, because its row was rolled back with the failed
 * attempt. A consumer that compares a submission's sequence numbers drops the event when it has handled
 * a later event of that submission, because an older decision must not follow a newer one. The dropped event
 * is in the inbox then, so that its dead letter counts as handled, too.
 */
import { createHash } from 'node:crypto';
import type { EventMessage } from '@creditlane/events/message';
import { definePurge, deleteOlderThanSql, PURGE_BATCH_ROWS } from '@creditlane/postgres/retention';
import { defineStatement } from '@creditlane/postgres/statement';
import { errorFields } from '@creditlane/runtime/telemetry/error-fields';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type pg from 'pg';

/** The SQL statements of a migration that creates the table of dead letters. */
export const createDeadLettersSql: readonly string[] = [
  `CREATE TABLE dead_letters (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    consumer text NOT NULL,
    topic text NOT NULL,
    key text NOT NULL,
    headers jsonb NOT NULL,
    value bytea NOT NULL,
    reason text NOT NULL,
    parked_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE UNIQUE INDEX dead_letters_event ON dead_letters (consumer, (headers ->> 'ce_id'))`,
];

/**
 * Stands for a consumer at events that are larger than their topic permits. The relay tries them again by itself; one that an
 * operator discards is not published, and holds up its key no more.
 */
export const OUTBOX_CONSUMER = 'outbox';

const MAX_REASON_LENGTH = 2_000;
/** In UTF-16 code units. An entry of the index of `ce_id` may have 2,700 bytes. */
const MAX_HEADER_LENGTH = 500;

const insertDeadLetter = defineStatement<{ isHandled: boolean }>(
  'dead_letter_park',
  `INSERT INTO dead_letters (consumer, topic, key, headers, value, reason)
   VALUES ($1, $2, $3, $4, $5, $6)
   -- A later attempt may fail for another reason, and that of the running version is the one to read.
   ON CONFLICT (consumer, (headers ->> 'ce_id')) DO UPDATE SET reason = excluded.reason
   RETURNING handled_at IS NOT NULL AS "isHandled"`,
);

/**
 * Stores a message with the error of its handling; a repeated message that has a `ce_id` is stored once. A message of any bytes
 * can be stored, because one that cannot would hold up its partition: a header longer than MAX_HEADER_LENGTH is cut and ends with
 * a digest of its text, and NUL, which PostgreSQL does not store in a text, is stored as U+FFFD. Resolves to whether it counts as
 * handled, as one that was given up does.
 */
export async function storeDeadLetter(
  pool: pg.Pool,
  consumer: string,
  message: EventMessage,
  error: unknown,
): Promise<boolean> {
  const { topic, key, headers, value } = message;
  const reason = storableText(reasonOf(error).slice(0, MAX_REASON_LENGTH));
  const storable = Object.entries(headers).map(([name, text]) => [
    storableHeader(name),
    storableHeader(text),
  ]);
  const storedHeaders = JSON.stringify(Object.fromEntries(storable));
  const values = [consumer, topic, storableText(key), storedHeaders, value, reason];
  const [stored] = await insertDeadLetter.run(pool, values);
  return stored?.isHandled === true;
}

/** A digest keeps long texts that begin alike apart: the ids of two messages must not become one. */
function storableHeader(text: string): string {
  if (text.length <= MAX_HEADER_LENGTH) return storableText(text);
  const digest = createHash('sha256').update(text).digest('hex');
  return storableText(`${text.slice(0, MAX_HEADER_LENGTH - digest.length)}${digest}`);
}

/** jsonb refuses half of a surrogate pair, too, which a cut may leave. */
const storableText = (text: string) => text.replaceAll('\0', '\uFFFD').toWellFormed();

// A message without an id cannot be redriven, and stays for good.
const countLeft = defineStatement<{ count: number }>(
  'dead_letters_left',
  `SELECT count(*) FROM dead_letters
   WHERE consumer = $1 AND handled_at IS NULL AND headers ->> 'ce_id' IS NOT NULL`,
);

/** Exports how many dead letters of the consumer wait to be redriven. */
export function observeDeadLetters(metrics: Metrics, pool: pg.Pool, consumer: string): void {
  const help = 'Events that a consumer could not handle, and that can be redriven.';
  metrics.gauge('dead_letters', help, ['consumer'], async (gauge) => {
    const [row] = await countLeft.run(pool, [consumer]);
    gauge.set({ consumer }, row?.count ?? 0);
  });
}

/**
 * Records as handled what its consumer has handled without a redrive: the batch of a dead letter may come again, and then the
 * event is tried again. Only letters of the last day: the batch comes again within minutes. The subquery has each event
 * looked up by its id, in the partition of its day.
 */
export const markAppliedDeadLetters = definePurge(
  'dead_letter_mark_applied',
  `UPDATE dead_letters SET handled_at = now() WHERE id = ANY (ARRAY(
     SELECT id FROM dead_letters AS letter
     WHERE handled_at IS NULL AND parked_at > now() - interval '1 day'
       AND (SELECT true FROM inbox WHERE inbox.consumer = letter.consumer
         AND event_id = CASE WHEN pg_input_is_valid(headers ->> 'ce_id', 'uuid') THEN (headers ->> 'ce_id')::uuid END)
     LIMIT ${PURGE_BATCH_ROWS}))`,
);

/** Records as handled the events of the outbox that have been published since. The index of keys finds those that still wait. */
export const markPublishedDeadLetters = definePurge(
  'dead_letter_mark_published',
  `UPDATE dead_letters SET handled_at = now() WHERE id = ANY (ARRAY(
     SELECT id FROM dead_letters AS letter
     WHERE handled_at IS NULL AND consumer = '${OUTBOX_CONSUMER}' AND NOT EXISTS (
       SELECT FROM outbox WHERE published_at IS NULL AND outbox.key = letter.key
         AND event_id = (headers ->> 'ce_id')::uuid)
     LIMIT ${PURGE_BATCH_ROWS}))`,
);

/**
 * A handled dead letter has had its effects, or was given up, and its event may hold personal data. The record of its redrives
 * stays.
 */
export const purgeDeadLetters = definePurge(
  'dead_letter_purge',
  deleteOlderThanSql('dead_letters', 'handled_at', '30 days'),
);

/** Contains what a log may contain: the message of another error can quote personal data. */
function reasonOf(error: unknown): string {
  const { name, code, message, constraint, stack } = errorFields(error);
  const head = [name, code, constraint, message].filter((part) => part !== undefined).join(': ');
  return stack ? `${head}\n${stack}` : head;
}
