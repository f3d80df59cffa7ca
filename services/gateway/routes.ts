/** Finds what serves a request's method and path, in time that does not grow with the routes. */
import { invalid } from '@creditlane/rpc/fault';

/** A place in the tree of path segments. */
interface Place<T> {
  readonly literal: Map<string, Place<T>>;
  placeholder: Place<T> | undefined;
  /** The names of the placeholders on the way here, by method: paths may call them differently. */
  readonly served: Map<string, { readonly target: T; readonly names: readonly string[] }>;
}

export type Match<T> =
  | { kind: 'found'; target: T; path: Record<string, string> }
  | { kind: 'other_methods'; allow: string }
  | { kind: 'unknown' };

/** The routes of a server. HEAD is served wherever GET is. */
export class Routes<T> {
  readonly #root: Place<T> = place();

  /** `route` is a path in which `{name}` stands for any one segment. Throws when it is taken. */
  add(method: string, route: string, target: T): void {
    const names: string[] = [];
    let at = this.#root;
    for (const segment of route.split('/').slice(1)) {
      if (segment.startsWith('{')) {
        names.push(segment.slice(1, -1));
        at.placeholder ??= place();
        at = at.placeholder;
      } else {
        const next = at.literal.get(segment) ?? place<T>();
        at.literal.set(segment, next);
        at = next;
      }
    }
    const verbs = method === 'GET' ? ['GET', 'HEAD'] : [method];
    for (const verb of verbs) {
      if (at.served.has(verb)) throw new Error(`${verb} ${route} is declared twice`);
      at.served.set(verb, { target, names });
    }
  }

  /** Throws an `invalid` Fault when a placeholder's percent-encoding is broken. */
  find(method: string, path: string): Match<T> {
    const values: string[] = [];
    let at: Place<T> | undefined = this.#root;
    for (const segment of path.split('/').slice(1)) {
      const literal: Place<T> | undefined = at.literal.get(segment);
      if (literal === undefined) values.push(segment);
      at = literal ?? (segment === '' ? undefined : at.placeholder);
      if (at === undefined) return { kind: 'unknown' };
    }
    const served = at.served.get(method);
    if (served !== undefined) {
      const named = served.names.map((name, index) => [name, decoded(values[index] ?? '')]);
      return { kind: 'found', target: served.target, path: Object.fromEntries(named) };
    }
    if (at.served.size === 0) return { kind: 'unknown' };
    return { kind: 'other_methods', allow: [...at.served.keys()].join(', ') };
  }
}

function place<T>(): Place<T> {
  return { literal: new Map(), placeholder: undefined, served: new Map() };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid('invalid_request', 'the path has broken percent-encoding');
  }
}
