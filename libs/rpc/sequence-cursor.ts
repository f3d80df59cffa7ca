/** The cursor of a list that is ordered by a sequence: the last sequence of a page, as an opaque text. */
import { invalid } from './fault.ts';

/** Greater than every sequence, which is an integer of 32 bits. */
const SEQ_LIMIT = 2 ** 31;

/** The cursor that leads to the records after a page whose last record has the sequence `seq`. */
export function cursorAfter(seq: number): string {
  return Buffer.from(`seq:${seq}`).toString('base64url');
}

/**
 * The exclusive upper bound for the sequences of the page that the cursor leads to. An empty cursor
 * leads to the newest records.
 *
 * @throws Fault `invalid_cursor` for a text that `cursorAfter` did not make
 */
export function seqBefore(cursor: string): number {
  if (cursor === '') return SEQ_LIMIT;
  const seq = Number(/^seq:([1-9]\d{0,9})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1]);
  if (!(seq <= SEQ_LIMIT)) {
    const message = 'must be the nextCursor of an earlier page';
    throw invalid('invalid_cursor', `cursor ${message}`, [{ pointer: '/cursor', message }]);
  }
  return seq;
}
