/** Stored answers that hold secrets: encrypted with the key ring, and re-encrypted when its key changes. */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { type SealContext, seal, sealedPrefix, unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedRecord, SealedTable } from '@creditlane/crypto/rotation';
import type { ScopedPool } from '@creditlane/postgres/query';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Call, CallIdempotency } from '@creditlane/rpc/call';
import type pg from 'pg';
import { markInProgress } from './duplicate-requests.ts';
import { ANSWER_IS_LIVE, answerOnce, storeAnswer } from './stored-answers.ts';

type AnswerId = Pick<CallIdempotency, 'callerId' | 'operation' | 'key'>;

interface SealedAnswer extends SealedRecord {
  id: AnswerId;
}

const selectSealedOtherwise = defineStatement<{
  caller_id: string;
  operation: string;
  key: string;
  response: Buffer;
}>(
  'answers_sealed_otherwise',
  `SELECT caller_id, operation, key, response FROM idempotency
   WHERE substring(response FROM 1 FOR length($1::bytea)) <> $1 AND ${ANSWER_IS_LIVE}
   LIMIT $2`,
);

const updateSealed = defineStatement(
  'answer_replace_sealed',
  `UPDATE idempotency SET response = $5
   WHERE caller_id = $1 AND operation = $2 AND key = $3 AND response = $4`,
);

/** For a service all of whose stored answers are sealed. */
export class SealedAnswers implements SealedTable<SealedAnswer> {
  readonly #pool: pg.Pool;
  readonly #keyRing: KeyRing;

  constructor(pool: pg.Pool, keyRing: KeyRing) {
    this.#pool = pool;
    this.#keyRing = keyRing;
  }

  /**
   * Runs `write` in the scope of `db`, stores the sealed answer in the same transaction, and resolves to the answer. A call
   * repeated with its idempotency key writes nothing and resolves to the stored answer.
   */
  answerOnce<D extends DescMessage>(
    db: ScopedPool,
    call: Call,
    schema: D,
    given: MessageInitShape<D>,
    write: (tx: Queryable) => Promise<void>,
  ): Promise<MessageShape<D>> {
    const answer = create(schema, given);
    return this.#runOnce(db, call, schema, async (tx, store) => {
      await store(answer);
      await write(tx);
      return answer;
    });
  }

  /**
   * As `answerOnce`, for a write that resolves to its answer. The answer is stored after the write, so the write
   * of a duplicate request runs, too, once the first has committed, and is rolled back: it must not throw for
   * what the first has written.
   */
  answerWithResult<D extends DescMessage>(
    db: ScopedPool,
    call: Call,
    schema: D,
    write: (tx: Queryable) => Promise<MessageInitShape<D>>,
  ): Promise<MessageShape<D>> {
    return this.#runOnce(db, call, schema, async (tx, store) => {
      await markInProgress(tx, call.idempotency);
      const answer = create(schema, await write(tx));
      await store(answer);
      return answer;
    });
  }

  /** Runs `write`, which stores its answer by `store`, in a transaction, or opens the stored answer. */
  async #runOnce<D extends DescMessage>(
    db: ScopedPool,
    call: Call,
    schema: D,
    write: (
      tx: Queryable,
      store: (answer: MessageShape<D>) => Promise<void>,
    ) => Promise<MessageShape<D>>,
  ): Promise<MessageShape<D>> {
    const { idempotency } = call;
    if (!idempotency) return inTransaction(db, (tx) => write(tx, async () => {}));
    const context = sealContext(idempotency);
    const outcome = await answerOnce(db, idempotency, () =>
      inTransaction(db, (tx) =>
        write(tx, (answer) => {
          const sealed = seal(this.#keyRing, toBinary(schema, answer), context);
          return storeAnswer(tx, idempotency, sealed);
        }),
      ),
    );
    if (!outcome.replayed) return outcome.answer;
    call.markReplayed();
    return fromBinary(schema, unseal(this.#keyRing, outcome.answer, context));
  }

  async findSealedWithOtherKey(keyId: string, limit: number): Promise<SealedAnswer[]> {
    const rows = await selectSealedOtherwise.run(this.#pool, [sealedPrefix(keyId), limit]);
    return rows.map(({ caller_id: callerId, operation, key, response: sealed }) => {
      const id = { callerId, operation, key };
      return { id, sealed, context: sealContext(id) };
    });
  }

  async replaceSealed({ id, sealed: read }: SealedAnswer, sealed: Buffer): Promise<void> {
    const { callerId, operation, key } = id;
    await updateSealed.run(this.#pool, [callerId, operation, key, read, sealed]);
  }
}

function sealContext({ callerId, operation, key }: AnswerId): SealContext {
  return {
    table: 'idempotency',
    column: 'response',
    row: `${operation} ${key}`,
    tenant: callerId,
  };
}
