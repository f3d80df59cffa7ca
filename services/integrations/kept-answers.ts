/** The answers kept for idempotency keys: some hold a key in the clear, so all of them are sealed. */
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
import {
  ANSWER_IS_LIVE,
  answerOnce,
  type Idempotency,
  rememberAnswer,
} from '@creditlane/idempotency/stored-answers';
import type { Database } from '@creditlane/postgres/database';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Call } from '@creditlane/rpc/call';

type AnswerName = Pick<Idempotency, 'callerId' | 'operation' | 'key'>;

interface KeptAnswer extends SealedRecord {
  name: AnswerName;
}

const findSealedWithOtherKey = defineStatement<{
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

const replaceSealed = defineStatement(
  'answer_replace_sealed',
  `UPDATE idempotency SET response = $5
   WHERE caller_id = $1 AND operation = $2 AND key = $3 AND response = $4`,
);

export class KeptAnswers implements SealedTable<KeptAnswer> {
  readonly #pool: Database['pool'];
  readonly #keyRing: KeyRing;

  constructor({ pool }: Database, keyRing: KeyRing) {
    this.#pool = pool;
    this.#keyRing = keyRing;
  }

  /**
   * Answers a call, and makes the answer true by `write`, in one transaction. A call repeated under
   * its idempotency key writes nothing and gets the answer that was given then.
   */
  async once<D extends DescMessage>(
    call: Call,
    schema: D,
    given: MessageInitShape<D>,
    write: (tx: Queryable) => Promise<void>,
  ): Promise<MessageShape<D>> {
    const { idempotency } = call;
    const answer = create(schema, given);
    if (!idempotency) {
      await inTransaction(this.#pool, write);
      return answer;
    }
    const context = answerContext(idempotency);
    const sealed = seal(this.#keyRing, toBinary(schema, answer), context);
    const { response, replayed } = await answerOnce(this.#pool, idempotency, () =>
      inTransaction(this.#pool, async (tx) => {
        await rememberAnswer(tx, idempotency, sealed);
        await write(tx);
        return sealed;
      }),
    );
    if (!replayed) return answer;
    call.markReplayed();
    return fromBinary(schema, unseal(this.#keyRing, response, context));
  }

  async findSealedWithOtherKey(keyId: string, limit: number): Promise<KeptAnswer[]> {
    const rows = await findSealedWithOtherKey.run(this.#pool, [sealedPrefix(keyId), limit]);
    return rows.map(({ caller_id: callerId, operation, key, response: sealed }) => {
      const name = { callerId, operation, key };
      return { name, sealed, context: answerContext(name) };
    });
  }

  async replaceSealed({ name, sealed: read }: KeptAnswer, sealed: Buffer): Promise<void> {
    const { callerId, operation, key } = name;
    await replaceSealed.run(this.#pool, [callerId, operation, key, read, sealed]);
  }
}

function answerContext({ callerId, operation, key }: AnswerName): SealContext {
  return {
    table: 'idempotency',
    column: 'response',
    row: `${operation} ${key}`,
    tenant: callerId,
  };
}
