import { SEALED_ANSWERS_INDEX } from '@creditlane/idempotency/sealed-answers';
import { concurrentIndexMigration } from '@creditlane/postgres/sql-migration';

/** The stored answers that a key wraps, for a rotation of the key ring. */
export const answersSealedWith1765000000001 = concurrentIndexMigration(
  'AnswersSealedWith1765000000001',
  'idempotency_sealed_with',
  SEALED_ANSWERS_INDEX,
);
