/** The cursor of a list: where a page ends, as an opaque text that only the same list accepts. */
import { createHash } from 'node:crypto';
import { isCanonicalUuid, NIL_UUID } from '@creditlane/runtime/ids';
import { invalidFields } from '../fault.ts';

/** The name of a list, then whatever selects its records: its owner and its filters. */
export type ListKey = readonly [name: string, ...selectedBy: (string | boolean | undefined)[]];

/** Whether a text can be the value of one column of a position. */
type IsValue = (text: string) => boolean;

/** The cursor that leads to the records after `position`, the sort columns of a page's last record. */
export function cursorAfter(list: ListKey, position: readonly string[]): string {
  return encode([digestOf(list, position), ...position]);
}

/**
 * The position that a cursor of this list leads to; undefined for an empty cursor, which leads to the
 * first page. The digest in the cursor detects a cursor of another list, owner or filter. It needs no key:
 * someone who computes the digest chooses where a page of their own list begins. That position is text of
 * the caller nonetheless, so `columns` checks each of its values.
 *
 * @throws Fault `invalid_cursor`
 */
function positionOf<const Columns extends readonly IsValue[]>(
  cursor: string,
  list: ListKey,
  columns: Columns,
): { [Column in keyof Columns]: string } | undefined {
  if (cursor === '') return undefined;
  const [digest, ...position] = decode(cursor);
  const isPosition =
    position.length === columns.length &&
    columns.every((isValue, column) => isValue(position[column] ?? ''));
  if (!isPosition || digest !== digestOf(list, position)) {
    const message = 'must be the nextCursor of an earlier page of the same list';
    throw invalidFields('invalid_cursor', [{ pointer: '/cursor', message }]);
  }
  return position as { [Column in keyof Columns]: string };
}

/**
 * For a list in the order of ids: the exclusive lower bound for the ids of the page that a cursor leads to.
 *
 * @throws Fault `invalid_cursor`
 */
export function idAfter(cursor: string, list: ListKey): string {
  const [id = NIL_UUID] = positionOf(cursor, list, [isCanonicalUuid]) ?? [];
  return id;
}

/** A position in the order of a list that has the newest record first, and of equally old ones the greatest id. */
export interface ListPosition {
  /** As `microsSql` gives it; before the first page any time that PostgreSQL reads. */
  readonly at: string;
  readonly id: string;
}

/** Greater than every id. */
const ID_LIMIT = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * For a list in the order of ids, highest first: the exclusive upper bound for the ids of the page that a cursor leads to.
 *
 * @throws Fault `invalid_cursor`
 */
export function idBefore(cursor: string, list: ListKey): string {
  const [id = ID_LIMIT] = positionOf(cursor, list, [isCanonicalUuid]) ?? [];
  return id;
}

/**
 * For a list with the newest record first: the exclusive upper bound, as a pair, for the times and ids of the page that a
 * cursor leads to.
 *
 * @param before the exclusive upper bound for the times of the whole list
 * @throws Fault `invalid_cursor`
 */
export function newestBefore(cursor: string, list: ListKey, before = 'infinity'): ListPosition {
  const [at = before, id = NIL_UUID] = positionOf(cursor, list, [isInstant, isCanonicalUuid]) ?? [];
  return { at, id };
}

/** Greater than every sequence, which is an integer of 32 bits. */
const SEQUENCE_LIMIT = 2 ** 31;

/**
 * For a list in the order of a sequence, highest first: the exclusive upper bound for the sequences of the
 * page that a cursor leads to.
 *
 * @throws Fault `invalid_cursor`
 */
export function sequenceBefore(cursor: string, list: ListKey): number {
  const [sequence = SEQUENCE_LIMIT] = positionOf(cursor, list, [isSequence]) ?? [];
  return Number(sequence);
}

function isSequence(text: string): boolean {
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= SEQUENCE_LIMIT;
}

const INSTANT = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/**
 * Whether a text is a time in UTC to the microsecond that PostgreSQL accepts: 2026-02-30 has the form of a
 * date alone.
 */
function isInstant(text: string): boolean {
  const ms = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 23) === text.slice(0, 23);
}

/**
 * SQL for a time of a position, as `isInstant` accepts it: to the microsecond, as PostgreSQL keeps it, because a Date has
 * milliseconds. `time` is SQL for a `timestamptz`.
 */
export function microsSql(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** 72 bits: enough to tell lists apart, and short. `null` keeps an absent filter in its place. */
function digestOf(list: ListKey, position: readonly string[]): string {
  const text = JSON.stringify([list.map((part) => part ?? null), position]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}

function encode(parts: readonly string[]): string {
  return Buffer.from(parts.join(' ')).toString('base64url');
}

/** The parts of a cursor; none for a text that `encode` cannot have made. */
function decode(cursor: string): string[] {
  const parts = Buffer.from(cursor, 'base64url').toString().split(' ');
  // Buffer passes over characters and bits that base64url does not have.
  return encode(parts) === cursor ? parts : [];
}
