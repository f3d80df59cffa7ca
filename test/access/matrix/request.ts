// Builds the requests of the access matrix: an operation's example with ids put in.
import type { JsonValue } from '@creditlane/gateway/document/openapi-document';
import type { CallOptions } from '../../platform/api-client.ts';
import type { IdPlace, MatrixOperation } from './matrix-operation.ts';

/** Ids by the names that places have, such as `creditorId`. */
export type Ids = Readonly<Record<string, string>>;

export interface MatrixRequest {
  path: string;
  options: Pick<CallOptions, 'body' | 'headers'>;
}

/**
 * The operation's example request with `ids` in the places that the example shows, and the ids of `replaced`
 * in further places or instead. Throws an Error where `ids` has no id of a name.
 */
export function makeRequest(
  { path, places, parameters, body: example }: MatrixOperation,
  ids: Ids,
  replaced: ReadonlyMap<IdPlace, string> = new Map(),
): MatrixRequest {
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  const body = structuredClone(example);
  let filled = path;
  const put = (place: string, steps: readonly string[], value: string) => {
    const [name = ''] = steps;
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'query') query.set(name, value);
    else if (place === 'header') headers[name] = value;
    else setAt(body, steps, value);
  };
  for (const { in: place, name, example: value } of parameters) put(place, [name], value);
  for (const place of places) {
    const value = replaced.get(place) ?? (place.sent ? requiredId(ids, place.name) : undefined);
    if (value !== undefined) put(place.in, place.steps, value);
  }
  const search = query.size > 0 ? `?${query}` : '';
  return { path: filled + search, options: { headers, ...(body !== undefined && { body }) } };
}

/** Throws an Error where the records have no id of the name. */
export function requiredId(ids: Ids, name: string): string {
  const id = ids[name];
  if (id === undefined)
    throw new Error(`test/access/matrix/records.ts has no ${name} of each tenant`);
  return id;
}

function setAt(root: JsonValue | undefined, steps: readonly string[], id: string): void {
  let holder = root as Record<string, unknown>;
  for (const [index, step] of steps.slice(0, -1).entries()) {
    holder[step] ??= steps[index + 1] === '0' ? [] : {};
    holder = holder[step] as Record<string, unknown>;
  }
  holder[steps.at(-1) as string] = id;
}
