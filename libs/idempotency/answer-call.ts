/** The answers of calls as they are stored and replayed: messages, in the clear or encrypted. */
import { type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import type { Queryable } from '@creditlane/postgres/statement';
import type { Call, CallIdempotency } from '@creditlane/rpc/call';
import { answerOnce, type Outcome, storeAnswer } from './stored-answers.ts';

/** The message of a stored answer, which is marked as replayed; undefined for an outcome that is not replayed. */
export function replayedAnswer<D extends DescMessage>(
  call: Pick<Call, 'markReplayed'>,
  schema: D,
  outcome: Outcome<unknown>,
): MessageShape<D> | undefined {
  if (!outcome.replayed) return undefined;
  call.markReplayed();
  return fromBinary(schema, outcome.answer);
}

/** Encrypts the answers that are stored, and decrypts them. */
export interface AnswerCipher {
  seal(answer: Uint8Array, idempotency: CallIdempotency): Uint8Array;
  unseal(stored: Uint8Array, idempotency: CallIdempotency): Uint8Array;
}

/** Stores the answer of a call in the transaction of its effect; of a call without an idempotency key, nothing. */
export type StoreAnswer<D extends DescMessage> = (
  tx: Queryable,
  answer: MessageShape<D>,
) => Promise<void>;

const IN_THE_CLEAR: AnswerCipher = { seal: (answer) => answer, unseal: (stored) => stored };

/**
 * As `answerOnce`, for a call whose answer is a message: resolves to what `write` resolves to, or to the stored answer,
 * which is marked as replayed. `write` stores its answer by `store` before or after the effect; stored before, it makes a
 * duplicate request wait for the stored answer.
 */
export async function answerCall<D extends DescMessage>(
  db: Queryable,
  call: Pick<Call, 'idempotency' | 'markReplayed'>,
  schema: D,
  write: (store: StoreAnswer<D>) => Promise<MessageShape<D>>,
  cipher: AnswerCipher = IN_THE_CLEAR,
): Promise<MessageShape<D>> {
  const { idempotency } = call;
  const store: StoreAnswer<D> = async (tx, answer) => {
    if (!idempotency) return;
    await storeAnswer(tx, idempotency, cipher.seal(toBinary(schema, answer), idempotency));
  };
  const outcome = await answerOnce(db, idempotency, () => write(store));
  // An answer is stored under an idempotency key only.
  if (!outcome.replayed || !idempotency) return outcome.answer as MessageShape<D>;
  call.markReplayed();
  return fromBinary(schema, cipher.unseal(outcome.answer, idempotency));
}
