/** The order of the lists that have the newest record first: by a time to the microsecond, and by the id. */

/** The time and the id of the record before a page. */
export interface Position {
  at: string;
  id: string;
}

/** Before the first page: after every record in the order of the table. */
const NEWEST: Position = { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** The position that a cursor holds; without a cursor, the one before the first page. */
export function positionBefore([at = NEWEST.at, id = NEWEST.id]: readonly string[] = []): Position {
  return { at, id };
}
