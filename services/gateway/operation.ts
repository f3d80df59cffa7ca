/** An operation as the OpenAPI document describes it, in the form that serving it needs. */
import {
  type DescribedParameter,
  HTTP_METHODS,
  type HttpMethod,
  type JsonObject,
  type OpenApiDocument,
  resolveReference,
} from './openapi-document.ts';

/** Who may call an operation: the document's `x-access`. */
export interface AccessRule {
  readonly caller: 'integration' | 'platform';
  /** On whose side the caller may stand; a grant on any of them opens the operation. */
  readonly sides: readonly ('retailer' | 'creditor')[];
  /** Asked of the caller besides. */
  readonly permission: string | undefined;
}

export interface Operation {
  readonly id: string;
  readonly method: HttpMethod;
  /** With the base path and `{placeholders}`; the label of metrics and logs. */
  readonly route: string;
  readonly access: AccessRule;
  readonly parameters: readonly DescribedParameter[];
  /** Where the body's schema stands in the document, as a URI fragment. */
  readonly body: { readonly required: boolean; readonly schemaAt: string } | undefined;
  /** The status of success. */
  readonly successStatus: number;
  /** Every status that the operation may answer with. */
  readonly statuses: ReadonlySet<number>;
  /** For an error status whose body has a closed schema: the only properties it may have. */
  readonly closedErrors: ReadonlyMap<number, readonly string[]>;
}

const JSON_TYPE = 'application/json';

/** All operations of the document. Throws an Error naming the operation whose description is unfit. */
export function operationsOf(document: OpenApiDocument): Operation[] {
  const base = document.servers[0]?.url ?? '';
  const operations: Operation[] = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of HTTP_METHODS) {
      const described = item[method];
      if (described === undefined) continue;
      const responses = Object.entries(described.responses);
      const success = responses.map(([status]) => Number(status)).filter((it) => it < 300);
      const [successStatus] = success;
      const id = described.operationId;
      if (successStatus === undefined || success.length > 1) {
        throw new Error(`${id} must have one success response`);
      }
      operations.push({
        id,
        method,
        route: base + path,
        access: accessRule(id, described['x-access']),
        parameters: [...(item.parameters ?? []), ...(described.parameters ?? [])].map((it) =>
          resolveReference(document, it),
        ),
        body: described.requestBody && {
          required: described.requestBody.required ?? false,
          schemaAt: fragment('paths', path, method, 'requestBody', 'content', JSON_TYPE, 'schema'),
        },
        successStatus,
        statuses: new Set(responses.map(([status]) => Number(status))),
        closedErrors: new Map(
          responses.flatMap(([status, response]) => {
            const names = closedProperties(document, resolveReference(document, response));
            return Number(status) < 400 || names === undefined ? [] : [[Number(status), names]];
          }),
        ),
      });
    }
  }
  return operations;
}

function accessRule(
  id: string,
  rule: { caller: string; side?: string[]; permission?: string } | undefined,
): AccessRule {
  const { caller, side = [], permission } = rule ?? { caller: '' };
  const known = side.every((it) => it === 'retailer' || it === 'creditor');
  if ((caller !== 'integration' && caller !== 'platform') || !known) {
    throw new Error(`${id} must say in x-access who may call it`);
  }
  return { caller, sides: side as AccessRule['sides'], permission };
}

function closedProperties(document: OpenApiDocument, response: object): string[] | undefined {
  const { content } = response as { content?: Record<string, { schema: JsonObject }> };
  const given = content?.[JSON_TYPE]?.schema;
  if (given === undefined) return undefined;
  const schema = resolveReference<JsonObject>(document, given);
  const closed = schema.additionalProperties === false;
  return closed ? Object.keys(schema.properties ?? {}) : undefined;
}

/** A JSON Pointer as a URI fragment (RFC 6901, section 6). */
function fragment(...steps: string[]): string {
  const escaped = steps.map((it) => it.replaceAll('~', '~0').replaceAll('/', '~1'));
  return `#/${escaped.map(encodeURIComponent).join('/')}`;
}
