/** The SQL of the sealed answers to failed attempts. An answer without a recorded attempt is never read. */
import { defineStatement, type Query } from '@creditlane/postgres/statement';
import type { AttemptResult } from '../sending/attempt.ts';

/** The most answers that a statement inserts: at most 6 KiB each, of bytes that are no UTF-8. */
const MAX_INSERTED = 128;

const insertAnswers = defineStatement(
  'attempt_answers_insert',
  `INSERT INTO attempt_answers (delivery_id, started_at, sealed)
   SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::bytea[])
   ON CONFLICT DO NOTHING`,
);

/** The statements that store what is kept of the answers of these results: none where nothing is. */
export function insertAnswersQueries(results: readonly AttemptResult[]): Query<unknown>[] {
  const answered = results.flatMap(({ delivery, startedAt, sealedAnswer }) =>
    sealedAnswer === undefined ? [] : { id: delivery.id, startedAt, sealedAnswer },
  );
  const queries: Query<unknown>[] = [];
  for (let from = 0; from < answered.length; from += MAX_INSERTED) {
    const some = answered.slice(from, from + MAX_INSERTED);
    queries.push(
      insertAnswers.query([
        some.map(({ id }) => id),
        some.map(({ startedAt }) => startedAt),
        some.map(({ sealedAnswer }) => sealedAnswer),
      ]),
    );
  }
  return queries;
}

export interface AnswerRow {
  startedAt: Date;
  sealed: Buffer;
}

const selectAnswers = defineStatement<AnswerRow>(
  'own_delivery_answers',
  `SELECT started_at AS "startedAt", sealed FROM attempt_answers
   WHERE delivery_id = $1 ORDER BY started_at DESC LIMIT $2`,
);

/** The latest answers to attempts at a delivery. */
export function findAnswersQuery(deliveryId: string, limit: number): Query<AnswerRow[]> {
  return selectAnswers.query([deliveryId, limit]);
}
