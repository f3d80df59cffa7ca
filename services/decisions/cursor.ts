/** Where a page of a submission's history ended, as an opaque text that the caller sends back. */
import { invalid } from '@creditlane/rpc/fault';

/** The bound of the first page; every sequence is less. */
const FIRST_PAGE = 2 ** 31;

/** The cursor of a page whose last decision is this one. */
export function cursorAfter(seq: number): string {
  return Buffer.from(`seq:${seq}`).toString('base64url');
}

/**
 * The sequence that the next page's decisions are less than; an empty cursor starts with the newest.
 *
 * @throws Fault `invalid_cursor` for a text that `cursorAfter` did not make
 */
export function seqBefore(cursor: string): number {
  if (cursor === '') return FIRST_PAGE;
  const seq = Number(/^seq:([1-9]\d{0,9})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1]);
  if (!(seq <= FIRST_PAGE)) {
    const message = 'must be the nextCursor of an earlier page';
    throw invalid('invalid_cursor', `cursor ${message}`, [{ pointer: '/cursor', message }]);
  }
  return seq;
}
