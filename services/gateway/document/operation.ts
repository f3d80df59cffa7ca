/** The operations of the OpenAPI document, converted to the form in which the middleware reads them. */

import { pointerStep } from '@creditlane/rpc/fault';
import { JSON_TYPE } from '../http/media-types.ts';
import { PEERS, type Peer } from '../peers.ts';
import {
  type DescribedAccess,
  type DescribedParameter,
  type HttpMethod,
  type JsonObject,
  type OpenApiDocument,
  operationsIn,
  type PlacedOperation,
  resolveReference,
  routeOf,
} from './openapi-document.ts';
import {
  accessTargetReader,
  idReader,
  type ReadAccessTarget,
  type ReadId,
} from './operation-parts/access-target.ts';
import { type BodyLimits, bodyLimits } from './operation-parts/body-limits.ts';
import { deprecationHeaders } from './operation-parts/deprecation.ts';
import { mayHoldList } from './operation-parts/large-answers.ts';

/** Who may call an operation: the document's `x-access`. */
export interface AccessRule
  extends Required<
    Pick<DescribedAccess, 'whileDisabled' | 'forbidsDeniedRetailer' | 'requiresRetailer'>
  > {
  /** `link`: whoever holds a signed link, without a key. */
  readonly caller: 'integration' | 'platform' | 'link';
  /** The sides on which a grant gives access to the operation; one grant is enough. */
  readonly sides: readonly ('retailer' | 'creditor')[];
  /** The permission that the caller must have, if any. */
  readonly permission: string | undefined;
  /** Reads which records a request names. */
  readonly target: ReadAccessTarget;
  /** The integration whose keys, permissions or grants the operation changes, if any. */
  readonly changesAccessOf: 'caller' | ReadId | undefined;
}

/**
 * When a read whose answer may be large, because it holds a list or a file, waits for its turn among those of its caller:
 * before the services are called, or before its answer is made.
 */
export type Turn = 'before_call' | 'before_answer' | 'none';

export interface Operation {
  readonly id: string;
  readonly method: HttpMethod;
  /** With the base path and `{placeholders}`; the label of metrics and logs. */
  readonly route: string;
  readonly access: AccessRule;
  /** While one of these services is away, no request for the operation can be answered. */
  readonly needs: readonly Peer[];
  readonly parameters: readonly DescribedParameter[];
  /** `schemaAt` is the place of the body's schema in the document, as a URI fragment. */
  readonly body:
    | { readonly required: boolean; readonly schema: JsonObject; readonly schemaAt: string }
    | undefined;
  /** Also for a body that is sent to an operation without one, which ignores it. */
  readonly bodyLimits: BodyLimits;
  /** The content type of each success, undefined where it has no body; the first is the usual one. */
  readonly successes: ReadonlyMap<number, string | undefined>;
  /** Every status that the operation may answer with. */
  readonly statuses: ReadonlySet<number>;
  /** For an error status whose body has a closed schema: the only properties it may have. */
  readonly closedErrors: ReadonlyMap<number, readonly string[]>;
  /** JSON Pointers to the fields of the body whose wrong values are 422 instead of 400. */
  readonly unprocessable: readonly string[];
  /** Whether a success may hold a list, so that it may be large. */
  readonly answersList: boolean;
  readonly turn: Turn;
  /** The headers of every answer that say so; undefined unless the operation is deprecated. */
  readonly deprecation: Record<string, string> | undefined;
  /** How long a request may take; undefined where the setting REQUEST_DEADLINE applies. */
  readonly timeoutMs: number | undefined;
}

type Content = Record<string, { schema: JsonObject }>;

/** Load balancers usually close a connection on which nothing is sent for a minute. */
const MAX_DEADLINE_SECONDS = 60;

/** All operations of the document. Throws an Error that names the operation with an invalid description. */
export function operationsOf(document: OpenApiDocument): Operation[] {
  return operationsIn(document.paths).map((placed) => {
    try {
      return { route: routeOf(document, placed.path), ...operationOf(document, placed) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${placed.operation.operationId} ${reason}`);
    }
  });
}

function operationOf(
  document: OpenApiDocument,
  { path, method, operation: described, parameters: given }: PlacedOperation,
): Omit<Operation, 'route'> {
  const parameters = given.map((parameter) => resolveReference(document, parameter));
  const { requestBody } = described;
  const bodySchema = requestBody?.content[JSON_TYPE]?.schema;
  const responses = Object.entries(described.responses).map(
    ([status, response]) => [Number(status), resolveReference(document, response)] as const,
  );
  const successes = new Map(
    responses.filter(([status]) => status < 300).map(([status, it]) => [status, contentType(it)]),
  );
  if (successes.size === 0) throw new Error('must have a success response');
  const successTypes = [...successes.values()];
  const answersList = successSchemas(responses).some((schema) => mayHoldList(document, schema));
  const isLargeRead = method === 'get' && (answersList || !successTypes.includes(JSON_TYPE));
  const access = accessRule(described, { document, parameters, body: bodySchema });
  const ownTimeoutMs = timeoutMs(described['x-deadline-seconds']);
  return {
    id: described.operationId,
    method,
    access,
    needs: neededServices(described),
    parameters,
    body: requestBody && {
      required: requestBody.required ?? false,
      schema: bodySchema ?? {},
      schemaAt: fragment('paths', path, method, 'requestBody', 'content', JSON_TYPE, 'schema'),
    },
    bodyLimits: bodyLimits(document, bodySchema),
    successes,
    statuses: new Set(responses.map(([status]) => status)),
    closedErrors: new Map(
      responses.flatMap(([status, response]) => {
        const names = closedProperties(document, response);
        return status < 400 || names === undefined ? [] : [[status, names]];
      }),
    ),
    unprocessable: described['x-unprocessable'] ?? [],
    deprecation: deprecationHeaders(described, routeOf(document, path)),
    answersList,
    turn: isLargeRead ? turnOfLargeRead(access, ownTimeoutMs) : 'none',
    timeoutMs: ownTimeoutMs,
  };
}

function turnOfLargeRead({ caller }: AccessRule, ownTimeoutMs: number | undefined): Turn {
  // A read with a deadline of its own waits for something, and other reads of the caller must not wait with it.
  if (ownTimeoutMs !== undefined) return 'before_answer';
  // The service limits the openings of a link, for which all callers are one.
  return caller === 'link' ? 'none' : 'before_call';
}

function successSchemas(responses: readonly (readonly [number, object])[]): JsonObject[] {
  return responses.flatMap(([status, response]) => {
    const { schema } = (response as { content?: Content }).content?.[JSON_TYPE] ?? {};
    return status < 300 && schema !== undefined ? [schema] : [];
  });
}

function accessRule(
  { 'x-access': rule, security }: { 'x-access'?: DescribedAccess; security?: object[] },
  sources: Parameters<typeof accessTargetReader>[1],
): AccessRule {
  const {
    caller,
    side = [],
    permission,
    requiresRetailer = false,
    whileDisabled = false,
    forbidsDeniedRetailer = false,
    target = {},
    changesAccessOf: changed,
  } = rule ?? { caller: '' };
  const known = side.every((it) => it === 'retailer' || it === 'creditor');
  const isLink = caller === 'link';
  if ((caller !== 'integration' && caller !== 'platform' && !isLink) || !known) {
    throw new Error('must say in x-access who may call it');
  }
  if (isLink !== (security?.length === 0)) {
    throw new Error('must have the caller link and an empty list of security together');
  }
  const sides = side as AccessRule['sides'];
  if (sides.includes('creditor') && target.creditorId === undefined) {
    throw new Error('must say in x-access.target where the creditor is named');
  }
  return {
    caller,
    sides,
    permission,
    whileDisabled,
    forbidsDeniedRetailer,
    requiresRetailer,
    target: accessTargetReader(target, sources),
    changesAccessOf:
      changed === undefined || changed === 'caller' ? changed : idReader(changed, sources),
  };
}

/** `x-needs`, and the integrations service, which finds a caller by its key, and the grants of those who were given a link. */
function neededServices({ 'x-needs': named }: { 'x-needs'?: string[] }): Peer[] {
  if (named === undefined || named.includes('integrations')) {
    throw new Error('must list in x-needs the services that it needs besides integrations');
  }
  const needed = ['integrations', ...named];
  return needed.map((name) => {
    const peer = PEERS.find((known) => known === name);
    if (peer === undefined) {
      throw new Error(`must name in x-needs services that the gateway calls, and not ${name}`);
    }
    return peer;
  });
}

function contentType(response: object): string | undefined {
  const [type] = Object.keys((response as { content?: Content }).content ?? {});
  return type;
}

function closedProperties(document: OpenApiDocument, response: object): string[] | undefined {
  const described = (response as { content?: Content }).content?.[JSON_TYPE]?.schema;
  if (described === undefined) return undefined;
  const schema = resolveReference<JsonObject>(document, described);
  const closed = schema.additionalProperties === false;
  return closed ? Object.keys(schema.properties ?? {}) : undefined;
}

function timeoutMs(seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  if (!(seconds > 0 && seconds <= MAX_DEADLINE_SECONDS)) {
    throw new Error(`must have x-deadline-seconds of at most ${MAX_DEADLINE_SECONDS}`);
  }
  return seconds * 1000;
}

/** A JSON Pointer as a URI fragment (RFC 6901, section 6). */
export function fragment(...steps: string[]): string {
  return `#/${steps.map((step) => encodeURIComponent(pointerStep(step))).join('/')}`;
}
