/**
 * Where a request names the records that it is about: the `target` of an operation's `x-access`, which
 * holds runtime expressions of OpenAPI (https://spec.openapis.org/oas/v3.1.0#runtime-expressions), such as
 * `$request.path.applicationId` or `$request.body#/retailerId`.
 */
import {
  type DescribedParameter,
  type JsonObject,
  type OpenApiDocument,
  resolveReference,
} from '../openapi-document.ts';
import type { Parameters } from '../parameters.ts';

/** The records that a request names, all ids in lower case. */
export interface AccessTarget {
  readonly applicationId: string | undefined;
  readonly creditorId: string | undefined;
  /** The retailer of a record that the request creates. */
  readonly retailerId: string | undefined;
  /** The retailer that the header X-Service-Retailer-ID names. */
  readonly retailerContext: string | undefined;
}

export type ReadAccessTarget = (parameters: Parameters, body: unknown) => AccessTarget;

export type ReadId = (parameters: Parameters, body: unknown) => string | undefined;

const EXPRESSION = /^\$request\.(?:(path|query|header)\.(.+)|body#(\/.+))$/;
const NAMES = ['applicationId', 'creditorId', 'retailerId'] as const;
const NO_ID: ReadId = () => undefined;

/** The parts of an operation's description that an expression may name. */
export interface TargetSources {
  document: OpenApiDocument;
  parameters: readonly DescribedParameter[];
  body: JsonObject | undefined;
}

/** Throws an Error for an expression that names no UUID of the operation's description. */
export function accessTargetReader(
  target: Readonly<Record<string, string>>,
  sources: TargetSources,
): ReadAccessTarget {
  for (const name of Object.keys(target)) {
    if (!NAMES.some((known) => known === name)) throw new Error(`x-access.target has no ${name}`);
  }
  const [applicationId, creditorId, retailerId] = NAMES.map((name) => {
    const expression = target[name];
    return expression === undefined ? NO_ID : idReader(expression, sources);
  }) as [ReadId, ReadId, ReadId];
  return (parameters, body) => ({
    applicationId: applicationId(parameters, body),
    creditorId: creditorId(parameters, body),
    retailerId: retailerId(parameters, body),
    retailerContext: parameters.header['x-service-retailer-id'],
  });
}

/** Throws an Error for an expression that names no UUID of the operation's description. */
export function idReader(
  expression: string,
  { document, parameters, body }: TargetSources,
): ReadId {
  const [, kind, name = '', pointer] = EXPRESSION.exec(expression) ?? [];
  if (pointer !== undefined) {
    const steps = pointer.slice(1).split('/').map(unescapeStep);
    if (!isUuidSchema(schemaAt(document, body, steps))) throw new Error(`${expression} is no UUID`);
    return (_, value) => stringAt(value, steps);
  }
  const declared = parameters.find((parameter) => parameter.in === kind && parameter.name === name);
  if (declared === undefined) throw new Error(`${expression} is no parameter of the operation`);
  if (!isUuidSchema(declared.schema)) throw new Error(`${expression} is no UUID`);
  const key = kind === 'header' ? name.toLowerCase() : name;
  return (values) => values[declared.in][key] as string | undefined;
}

/** A step of a JSON Pointer (RFC 6901, section 4). */
function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function stringAt(value: unknown, steps: readonly string[]): string | undefined {
  let found = value;
  for (const step of steps) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step))
      return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return typeof found === 'string' ? found : undefined;
}

/** The schema that describes what the steps lead to, through properties, items and `allOf`. */
function schemaAt(
  document: OpenApiDocument,
  given: JsonObject | undefined,
  [step, ...further]: readonly string[],
): JsonObject | undefined {
  if (given === undefined) return undefined;
  const schema = resolveReference<JsonObject>(document, given);
  if (step === undefined) return schema;
  const {
    properties = {},
    items,
    allOf = [],
  } = schema as {
    properties?: Record<string, JsonObject>;
    items?: JsonObject;
    allOf?: JsonObject[];
  };
  const next = properties[step] ?? (/^\d+$/.test(step) ? items : undefined);
  if (next !== undefined) return schemaAt(document, next, further);
  return allOf
    .map((part) => schemaAt(document, part, [step, ...further]))
    .find((found) => found !== undefined);
}

function isUuidSchema(schema: JsonObject | undefined): boolean {
  return schema?.format === 'uuid' || schema?.['x-record-id'] === true;
}
