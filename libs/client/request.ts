/** The HTTP request of a call: built once, so that all attempts send the same bytes. */

/** What the operations' inputs have in common. */
export interface RawInput {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  header?: Record<string, unknown>;
  body?: unknown;
}

export interface OperationEntry {
  readonly method: string;
  readonly path: string;
  /** The largest page of a list with cursors. */
  readonly pageSize?: number;
  /** Whether the operation takes an Idempotency-Key. */
  readonly takesKey?: boolean;
  /** The content type of the answer; JSON when left out. */
  readonly accept?: string;
}

export interface PreparedRequest {
  url: string;
  method: string;
  headers: Headers;
  body: string | undefined;
  requestId: string;
  idempotencyKey: string | undefined;
}

/** What the client adds to every request. */
export interface RequestDefaults {
  baseUrl: string;
  retailerId: string | undefined;
}

/** Throws a TypeError that names the parameter when a path parameter is missing or leads elsewhere. */
export function prepareRequest(
  { method, path, accept = 'application/json', takesKey = false }: OperationEntry,
  input: RawInput,
  { baseUrl, retailerId }: RequestDefaults,
): PreparedRequest {
  const headers = new Headers({ accept });
  if (retailerId !== undefined) headers.set('X-Service-Retailer-ID', retailerId);
  for (const [name, value] of definedEntries(input.header)) headers.set(name, value);
  // One id for all attempts, so that the logs show them together, and a failed call can be looked up.
  if (!headers.has('X-Request-Id')) headers.set('X-Request-Id', crypto.randomUUID());
  // An operation that takes no key may be repeated as it is.
  if (takesKey && !headers.has('Idempotency-Key')) {
    headers.set('Idempotency-Key', crypto.randomUUID());
  }
  if (input.body !== undefined) headers.set('content-type', 'application/json');
  const query = new URLSearchParams(definedEntries(input.query)).toString();
  return {
    url: `${baseUrl}${fillPath(path, input.path ?? {})}${query && `?${query}`}`,
    method,
    headers,
    body: input.body === undefined ? undefined : JSON.stringify(input.body),
    requestId: headers.get('X-Request-Id') ?? '',
    idempotencyKey: headers.get('Idempotency-Key') ?? undefined,
  };
}

function fillPath(path: string, parameters: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(parameters[name] ?? '');
    // URLs drop the segments "." and "..", also escaped ones: the call would go to another operation.
    if (/^\.{0,2}$/.test(value)) {
      const found = value === '' ? 'missing or empty' : `"${value}"`;
      throw new TypeError(`path.${name} of ${path} is ${found}`);
    }
    return encodeURIComponent(value);
  });
}

/** Name and text of each value that is given, which null is not; an array gives one entry for each item. */
function definedEntries(values: Record<string, unknown> = {}): [string, string][] {
  return Object.entries(values).flatMap(([name, value]) =>
    [value]
      .flat()
      .flatMap((item): [string, string][] =>
        item === undefined || item === null ? [] : [[name, String(item)]],
      ),
  );
}
