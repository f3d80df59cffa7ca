/** Where a page of a submission's history ended, as the opaque text that a caller brings back. */
import { invalid } from '@creditlane/rpc/fault';

/** The bound of the first page: every sequence is under it. */
const NEWEST = 2 ** 31;

/** The cursor of a page whose last decision is this one. */
export function cursorAfter(seq: number): string {
  return Buffer.from(`seq:${seq}`).toString('base64url');
}

/**
 * The sequence that the next page's decisions are under; an empty cursor starts with the newest.
 *
 * @throws a Fault `invalid_cursor` for a text that `cursorAfter` never gave
 */
export function seqBefore(cursor: string): number {
  if (cursor === '') return NEWEST;
  const seq = Number(/^seq:([1-9]\d{0,9})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1]);
  if (!(seq <= NEWEST)) {
    const message = 'must be the nextCursor of an earlier page';
    throw invalid('invalid_cursor', `cursor ${message}`, [{ pointer: '/cursor', message }]);
  }
  return seq;
}
