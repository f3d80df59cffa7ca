/**
 * Events that a consumer could not handle, kept whole, with the reason, for an operator to judge.
 *
 * To drive a dead letter again is to hand its message to its consumer once more, by then one that can
 * handle it. The inbox does not know the event, for the claim was undone with the failed try. What it
 * still does is the consumer's to say: consumers that go by the sequence number of a submission drop
 * it when a later event of that submission was taken in meanwhile, as old news must not come after
 * newer. So only the last event of its submission is made up for; the others stay a record of what
 * was not told.
 */
import type { EventMessage } from '@creditlane/events/message';
import { defineStatement } from '@creditlane/postgres/statement';
import { errorFields } from '@creditlane/runtime/telemetry/error-fields';
import type pg from 'pg';

/** The SQL of a migration that creates the table of dead letters. */
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

export const dropDeadLettersSql: readonly string[] = ['DROP TABLE dead_letters'];

const MAX_REASON_LENGTH = 2_000;

const insertDeadLetter = defineStatement(
  'dead_letter_park',
  `INSERT INTO dead_letters (consumer, topic, key, headers, value, reason)
   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
);

/** Puts a message aside; once, however often it comes. */
export async function storeDeadLetter(
  pool: pg.Pool,
  consumer: string,
  message: EventMessage,
  error: unknown,
): Promise<void> {
  const { topic, key, headers, value } = message;
  const reason = reasonOf(error).slice(0, MAX_REASON_LENGTH);
  await insertDeadLetter.run(pool, [consumer, topic, key, JSON.stringify(headers), value, reason]);
}

/** As much as a log may show: a message can quote what the event stood for, in the clear. */
function reasonOf(error: unknown): string {
  const { name, code, message, constraint, stack } = errorFields(error);
  const head = [name, code, constraint, message].filter((part) => part !== undefined).join(': ');
  return stack ? `${head}\n${stack}` : head;
}
