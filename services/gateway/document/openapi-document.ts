/** The gateway's OpenAPI document: read from the files in openapi/, merged into one. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { type DescribedDeprecation, deprecationHeaders } from './operation-parts/deprecation.ts';

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [name: string]: JsonValue };

const HTTP_METHODS = ['get', 'post', 'put', 'delete'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

export type Reference = { $ref: string };

export interface DescribedParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: JsonObject;
  example?: JsonValue;
}

/** Who may call an operation, and where a request names the records that it is about. */
export interface DescribedAccess {
  caller: string;
  side?: string[];
  permission?: string;
  /** Permissions that preferences of `Prefer` need, by their names. The service that honours the preference checks it. */
  permissionOfPreference?: Record<string, string>;
  /** Whether a grant on a creditor gives access also while the integration is disabled for the creditor. */
  whileDisabled?: boolean;
  /** Whether a caller without a grant on the retailer gets 403 instead of the answer for a missing record. */
  forbidsDeniedRetailer?: boolean;
  /**
   * Whether the operation is about one retailer as a whole. X-Service-Retailer-ID names it; a
   * caller with a grant on a single retailer may leave the header out.
   */
  requiresRetailer?: boolean;
  /** Runtime expressions by name; see access-target.ts. */
  target?: Record<string, string>;
  /**
   * The integration whose keys, permissions or grants the operation changes: `caller`, or a runtime expression. It is
   * looked up anew afterwards.
   */
  changesAccessOf?: string;
}

export interface DescribedOperation extends DescribedDeprecation {
  operationId: string;
  tags?: string[];
  /** An empty list where a request needs no key; otherwise the document's own applies. */
  security?: object[];
  'x-access': DescribedAccess;
  /** Services besides integrations, which every operation needs: while one of them is away, the operation cannot be answered. */
  'x-needs': string[];
  /** Instead of the setting REQUEST_DEADLINE, for an operation that waits longer. */
  'x-deadline-seconds'?: number;
  /** JSON Pointers to the fields of the body whose wrong values are 422; other faults of a body are 400. */
  'x-unprocessable'?: string[];
  parameters?: (DescribedParameter | Reference)[];
  requestBody?: {
    description?: string;
    required?: boolean;
    content: Record<string, { schema: JsonObject; example?: JsonValue }>;
  };
  responses: Record<string, JsonObject | Reference>;
}

export type PathItem = { parameters?: (DescribedParameter | Reference)[] } & {
  [M in HttpMethod]?: DescribedOperation;
};

export interface OpenApiDocument {
  openapi: string;
  info: JsonObject;
  servers: { url: string }[];
  paths: Record<string, PathItem>;
  /** The webhooks that the platform sends: described for people, and not served by the gateway. */
  webhooks: Record<string, PathItem>;
  components: Record<string, Record<string, JsonValue>>;
}

/** What many operations have. An operation's own description takes precedence. */
interface Shared extends Pick<DescribedOperation, 'parameters' | 'responses'> {
  /** The headers of every answer; those of every POST are of its successes. */
  headers?: JsonObject;
}

type RootFile = OpenApiDocument & Record<SharedKey, Shared>;
type SharedKey = 'x-every-operation' | 'x-every-post';

const FOLDER = fileURLToPath(new URL('../openapi/', import.meta.url));
const ROOT = 'openapi.yaml';

/** Without control characters, line and paragraph separators, and characters that change the direction of text. */
export const ONE_LINE = '^[^\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029\\u202A-\\u202E\\u2066-\\u2069]*$';

let ownDocument: OpenApiDocument | undefined;

/** The gateway's document. It is read once, which takes a quarter of a second, and shared: nobody changes it. */
export function openApiDocument(): OpenApiDocument {
  ownDocument ??= readOpenApiDocument();
  return ownDocument;
}

/** Reads and merges the files. Throws an Error naming the path or component that two files declare. */
function readOpenApiDocument(): OpenApiDocument {
  const read = (file: string) => parse(readFileSync(`${FOLDER}/${file}`, 'utf8'), { merge: true });
  const {
    'x-every-operation': everyOperation,
    'x-every-post': everyPost,
    ...root
  } = read(ROOT) as RootFile;
  const info = { ...root.info, description: `${root.info.description}\n${readGuides()}` };
  const document: OpenApiDocument = { ...root, info, paths: {}, webhooks: {}, components: {} };

  for (const file of readdirSync(FOLDER).sort()) {
    if (file === ROOT || !file.endsWith('.yaml')) continue;
    const part = read(file) as Partial<OpenApiDocument>;
    addEach(document.paths, part.paths ?? {}, file);
    addEach(document.webhooks, part.webhooks ?? {}, file);
    for (const [sort, named] of Object.entries(part.components ?? {})) {
      document.components[sort] ??= {};
      addEach(document.components[sort], named, file);
    }
  }
  limitToOneLine([document.paths, document.components]);
  for (const { method, operation } of operationsIn(document.paths)) {
    const { headers, ...replayable } = everyPost;
    if (method === 'post') {
      operation.responses = withHeaders(operation.responses, headers, (status) => status < 300);
      share(operation, replayable);
    }
    const shared = operation.security?.length === 0 ? withoutKey(everyOperation) : everyOperation;
    share(operation, shared);
    operation.responses = withHeaders(operation.responses, shared.headers);
  }
  const { responses } = document.components;
  document.components.responses = withHeaders(responses ?? {}, everyOperation.headers);
  describeDeprecation(document);
  return document;
}

/** Describes the headers of deprecated operations in their answers, those that the operations share included. */
export function describeDeprecation(document: OpenApiDocument): void {
  for (const { path, operation } of operationsIn(document.paths)) {
    const sent = deprecationHeaders(operation, routeOf(document, path));
    if (sent === undefined) continue;
    const headers = Object.entries(sent).map(([name, value]) => [
      name,
      { required: true, schema: { type: 'string', const: value } },
    ]);
    const responses = Object.entries(operation.responses).map(([status, response]) => [
      status,
      resolveReference<JsonObject>(document, response),
    ]);
    operation.responses = withHeaders(Object.fromEntries(responses), Object.fromEntries(headers));
  }
}

/** The path of an operation with the base path. */
export function routeOf({ servers }: OpenApiDocument, path: string): string {
  return (servers[0]?.url ?? '') + path;
}

/** An operation or a webhook, with its place in the document. */
export interface PlacedOperation {
  /** The path of an operation, or the name of a webhook. */
  path: string;
  method: HttpMethod;
  operation: DescribedOperation;
  /** Those of the path, and the operation's own. */
  parameters: (DescribedParameter | Reference)[];
}

/** All operations of `paths`, or all webhooks of `webhooks`. */
export function operationsIn(items: Readonly<Record<string, PathItem>>): PlacedOperation[] {
  return Object.entries(items).flatMap(([path, item]) =>
    HTTP_METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      return [{ path, method, operation, parameters }];
    }),
  );
}

/**
 * Gives the texts of requests, which have a maxLength, the pattern of one line, where they have none of their own: no text of
 * several lines, and none with characters that turn the direction of what follows, is taken unless its description says so.
 */
function limitToOneLine(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  const schema = part as { type?: unknown; maxLength?: unknown; pattern?: string };
  const isRestricted = 'format' in schema || 'enum' in schema || 'pattern' in schema;
  if (schema.type === 'string' && schema.maxLength !== undefined && !isRestricted) {
    schema.pattern = ONE_LINE;
  }
  for (const [name, member] of Object.entries(part)) {
    if (!name.startsWith('example')) limitToOneLine(member);
  }
}

/** The Markdown of the guides, in the order of their numbers. */
function readGuides(): string {
  const guides = `${FOLDER}/guides`;
  const names = readdirSync(guides).filter((name) => name.endsWith('.md'));
  return names
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => readFileSync(`${guides}/${name}`, 'utf8'))
    .join('\n');
}

/** Resolves a local reference ("#/components/…"). Throws an Error when it leads nowhere. */
export function resolveReference<T extends object>(document: object, given: T | Reference): T {
  if (!('$ref' in given)) return given;
  let found: unknown = document;
  for (const step of given.$ref.split('/').slice(1)) {
    found = (found as Record<string, unknown> | undefined)?.[step];
  }
  if (found === undefined) throw new Error(`${given.$ref} leads nowhere`);
  return found as T;
}

/** The keywords by which a schema takes in others. */
interface MergedParts<Schema> {
  $ref?: string;
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
}

/** A schema with its `$ref` and `allOf` merged in; those of its properties and items are as they were. */
export function mergedSchema<Schema extends MergedParts<Schema>>(
  document: object,
  schema: Schema,
): Schema {
  const { $ref, allOf = [], ...own } = schema;
  const parts = $ref === undefined ? allOf : [...allOf, resolveReference(document, { $ref })];
  return parts
    .map((part) => mergedSchema(document, part as Schema))
    .reduce((all, part) => {
      const properties = { ...part.properties, ...all.properties };
      const required = [...(all.required ?? []), ...(part.required ?? [])];
      return Object.assign({}, part, all, { properties, required });
    }, own as Schema);
}

function addEach<T>(all: Record<string, T>, some: Record<string, T>, file: string): void {
  for (const [name, value] of Object.entries(some)) {
    if (name in all) throw new Error(`${file} declares ${name} a second time`);
    all[name] = value;
  }
}

/** The responses with more headers. A reference stays as it is: its component has the headers already. */
function withHeaders<T extends JsonValue | Reference>(
  responses: Record<string, T>,
  headers: JsonObject = {},
  which: (status: number) => boolean = () => true,
): Record<string, T> {
  const all = Object.entries(responses).map(([name, response]) => {
    const own = response as { $ref?: string; headers?: JsonObject };
    const isOwn = own.$ref === undefined && which(Number(name));
    return [name, isOwn ? { ...own, headers: { ...headers, ...own.headers } } : own];
  });
  return Object.fromEntries(all);
}

/** What operations share that need no key: nobody is refused without one, and no key has a quota. */
function withoutKey({ headers = {}, responses, ...shared }: Shared): Shared {
  const { RateLimit: _, 'RateLimit-Policy': __, ...otherHeaders } = headers;
  const { '401': ___, ...otherResponses } = responses;
  return { ...shared, headers: otherHeaders, responses: otherResponses };
}

/** Replaces lists instead of extending them: a YAML anchor and its aliases are one object in memory. */
function share(operation: DescribedOperation, { parameters = [], responses }: Shared): void {
  operation.parameters = [...(operation.parameters ?? []), ...parameters];
  operation.responses = { ...responses, ...operation.responses };
}
