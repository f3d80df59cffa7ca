/** Stored answers that hold secrets: encrypted with the key ring, and re-encrypted when its key changes. */
import {
  create,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import {
  MAX_PREFIX_BYTES,
  readSealedKeyId,
  type SealContext,
  SealError,
  seal,
  sealedPrefix,
  sealedPrefixEnd,
  unseal,
} from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Rewrapped, SealedRecord, SealedTable } from '@creditlane/crypto/rotation';
import type { ScopedPool } from '@creditlane/postgres/row-security/scoped-pool';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Call, CallIdempotency } from '@creditlane/rpc/call';
import type pg from 'pg';
import { type AnswerCipher, answerCall, type StoreAnswer } from './answer-call.ts';
import { markInProgress } from './duplicate-requests.ts';
import { ANSWER_IS_LIVE } from './stored-answers.ts';

type AnswerId = Pick<CallIdempotency, 'callerId' | 'operation' | 'key'>;

interface SealedAnswer extends SealedRecord {
  id: AnswerId;
}

/** The first bytes of an answer, which tell the key that wraps it: an index of whole answers could not hold long ones. */
const HEAD = `substring(response FROM 1 FOR ${MAX_PREFIX_BYTES})`;

/** The table, column and condition of the index that sealed answers are found by. */
export const SEALED_ANSWERS_INDEX = `idempotency (${HEAD})`;

const selectHeadFrom = defineStatement<{ head: Buffer }>(
  'answers_next_head',
  `SELECT ${HEAD} AS head FROM idempotency WHERE ${HEAD} >= $1 AND ${ANSWER_IS_LIVE}
   ORDER BY ${HEAD} LIMIT 1`,
);

const selectSealedWith = defineStatement<{
  callerId: string;
  operation: string;
  key: string;
  response: Buffer;
}>(
  'answers_sealed_with',
  `SELECT caller_id AS "callerId", operation, key, response FROM idempotency
   WHERE ${HEAD} >= $1 AND ${HEAD} < $2 AND ${ANSWER_IS_LIVE} ORDER BY ${HEAD} LIMIT $3 OFFSET $4`,
);

const updateSealed = defineStatement<{ key: string }>(
  'answers_replace_sealed',
  `WITH rewrapped AS (
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::bytea[])
       AS rewrapped (caller_id, operation, key, was, sealed)
   ), unlocked AS (
     SELECT caller_id, operation, key, rewrapped.sealed
     FROM idempotency JOIN rewrapped USING (caller_id, operation, key)
     WHERE response = was FOR NO KEY UPDATE OF idempotency SKIP LOCKED
   )
   UPDATE idempotency SET response = sealed FROM unlocked
   WHERE (idempotency.caller_id, idempotency.operation, idempotency.key)
     = (unlocked.caller_id, unlocked.operation, unlocked.key)
   RETURNING idempotency.key`,
);

/** For a service all of whose stored answers are sealed. */
export class SealedAnswers implements SealedTable<SealedAnswer> {
  readonly name = 'idempotency';
  readonly #pool: pg.Pool;
  readonly #keyRing: KeyRing;

  constructor(pool: pg.Pool, keyRing: KeyRing) {
    this.#pool = pool;
    this.#keyRing = keyRing;
  }

  /**
   * Stores the sealed answer and runs `write` in one transaction in the scope of `db`, and resolves to the answer. A call
   * repeated with its idempotency key writes nothing and resolves to the stored answer.
   */
  storeThenWrite<D extends DescMessage>(
    db: ScopedPool,
    call: Call,
    schema: D,
    given: MessageInitShape<D>,
    write: (tx: Queryable) => Promise<void>,
  ): Promise<MessageShape<D>> {
    const answer = create(schema, given);
    return this.answerCall(db, call, schema, (store) =>
      inTransaction(db, async (tx) => {
        await store(tx, answer);
        await write(tx);
        return answer;
      }),
    );
  }

  /**
   * As `storeThenWrite`, for a write that resolves to its answer. The answer is stored after the write, so the write
   * of a duplicate request runs, too, once the first has committed, and is rolled back: it must not throw for
   * what the first has written. What `check` throws rolls the write back; it runs once the answer is stored, so that no
   * duplicate request gets that far.
   */
  writeThenStore<D extends DescMessage>(
    db: ScopedPool,
    call: Call,
    schema: D,
    write: (tx: Queryable) => Promise<MessageInitShape<D>>,
    check?: () => void,
  ): Promise<MessageShape<D>> {
    return this.answerCall(db, call, schema, (store) =>
      inTransaction(db, async (tx) => {
        await markInProgress(tx, call.idempotency);
        const answer = create(schema, await write(tx));
        await store(tx, answer);
        check?.();
        return answer;
      }),
    );
  }

  /**
   * As `answerCall` of the library, for a write that asks another service before its transaction: a repeated call, which
   * gets the stored answer, does not ask.
   */
  answerCall<D extends DescMessage>(
    db: Queryable,
    call: Call,
    schema: D,
    write: (store: StoreAnswer<D>) => Promise<MessageShape<D>>,
  ): Promise<MessageShape<D>> {
    const cipher: AnswerCipher = {
      seal: (answer, id) => seal(this.#keyRing, answer, sealContext(id)),
      unseal: (stored, id) => unseal(this.#keyRing, stored, sealContext(id)),
    };
    return answerCall(db, call, schema, write, cipher);
  }

  /** Passes over an answer with a damaged head, which no key opens: it ends with its time, as all answers do. */
  async findKeyIds(): Promise<string[]> {
    const keyIds: string[] = [];
    for (let from: Buffer = Buffer.alloc(0); ; ) {
      const [found] = await selectHeadFrom.run(this.#pool, [from]);
      if (found === undefined) return keyIds;
      const keyId = findKeyId(found.head);
      if (keyId !== undefined) keyIds.push(keyId);
      from = keyId === undefined ? endOf(found.head) : sealedPrefixEnd(keyId);
    }
  }

  async findSealedWith(keyId: string, limit: number, offset: number): Promise<SealedAnswer[]> {
    const range = [sealedPrefix(keyId), sealedPrefixEnd(keyId)];
    const rows = await selectSealedWith.run(this.#pool, [...range, limit, offset]);
    return rows.map(({ callerId, operation, key, response: sealed }) => {
      const id = { callerId, operation, key };
      return { id, sealed, context: sealContext(id) };
    });
  }

  async replaceSealed(answers: readonly Rewrapped<SealedAnswer>[]): Promise<number> {
    const replaced = await updateSealed.run(this.#pool, [
      answers.map(({ record }) => record.id.callerId),
      answers.map(({ record }) => record.id.operation),
      answers.map(({ record }) => record.id.key),
      answers.map(({ record }) => record.sealed),
      answers.map(({ sealed }) => sealed),
    ]);
    return replaced.length;
  }
}

/** Undefined for a damaged head. */
function findKeyId(head: Buffer): string | undefined {
  try {
    return readSealedKeyId(head);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

/** The least bytes that are greater than the head. */
function endOf(head: Buffer): Buffer {
  return Buffer.concat([head, Buffer.of(0)]);
}

function sealContext({ callerId, operation, key }: AnswerId): SealContext {
  return {
    table: 'idempotency',
    column: 'response',
    row: `${operation} ${key}`,
    tenant: callerId,
  };
}
