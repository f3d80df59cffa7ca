/** Reads what a service answers to a call: its records, its pages, its event filters, and the fields that it refuses. */
import { internal, invalidFields, toFault } from '@creditlane/rpc/fault';

/** The start of a field's JSON Pointer in the request to a service, and in the client's request. */
interface RenamedField {
  from: string;
  to: string;
  /** Set where the client sends it as a query parameter rather than in the body. */
  in?: 'query';
}

/** A list is asked for by query parameters alone: a service may refuse its cursor, or a range of times. */
const QUERY: RenamedField = { from: '', to: '', in: 'query' };

/** Waits for the page of a list, whose records `dataOf` writes. A service answers with an empty `nextCursor` on the last page. */
export async function answerPage<Page extends { nextCursor: string }, Item>(
  call: Promise<Page>,
  dataOf: (page: Page) => Item[] | Promise<Item[]>,
): Promise<{ data: Item[]; nextCursor: string | null }> {
  const page = await renameRefusedFields(call, [QUERY]);
  return { data: await dataOf(page), nextCursor: page.nextCursor || null };
}

/** Waits for a call. When the service refuses fields, names them by their places in the client's request. */
export async function renameRefusedFields<T>(
  call: Promise<T>,
  renamed: readonly RenamedField[],
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const fault = toFault(error);
    if (fault.kind !== 'invalid' || fault.fields.length === 0) throw fault;
    const fields = fault.fields.map(({ pointer, message }) => {
      const match = renamed.find(({ from }) => pointer === from || pointer.startsWith(`${from}/`));
      if (match === undefined) return { pointer, message };
      const field = { pointer: match.to + pointer.slice(match.from.length), message };
      return match.in === undefined ? field : { in: match.in, ...field };
    });
    throw invalidFields(fault.code, fields);
  }
}

/** The record that a service answers with. Throws an `internal` Fault when the service left it out. */
export function requireRecord<T>(record: T | undefined): T {
  if (record === undefined) throw internal(new Error('a service answered without its record'));
  return record;
}

/** A message has an empty list where the destination has no filter and gets all webhooks; answers then have no list. */
export function withoutEmptyFilter<Destination extends { events: string[] }>(
  destination: Destination,
) {
  const { events, ...others } = destination;
  return { ...others, events: events.length > 0 ? events : undefined };
}
