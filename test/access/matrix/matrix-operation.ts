// The operations of the OpenAPI document as the access matrix needs them: access rule, example request, ids.
import {
  type DescribedAccess,
  type DescribedParameter,
  type JsonObject,
  type JsonValue,
  type OpenApiDocument,
  type PlacedOperation,
  resolveReference,
} from '@creditlane/gateway/document/openapi-document';

/** A place of a request that holds an id. */
export interface IdPlace {
  in: 'path' | 'query' | 'header' | 'body';
  /** The name of the parameter or property, such as `creditorId`, for an item of `creditorIds` too. */
  name: string;
  /** The steps from the body's root, or the name of the parameter. */
  steps: readonly string[];
  /** Whether the example request holds the id. */
  sent: boolean;
}

export interface MatrixOperation {
  id: string;
  /** The id, with the preference that its requests have. */
  name: string;
  method: string;
  /** With `{placeholders}`, without the base path. */
  path: string;
  access: DescribedAccess;
  places: readonly IdPlace[];
  /** The parameters without an id that a request must have, with their examples. */
  parameters: readonly { in: string; name: string; example: string }[];
  body: JsonValue | undefined;
}

export const RETAILER_CONTEXT = 'X-Service-Retailer-ID';

type Parameter = DescribedParameter & { example?: JsonValue };
interface Content {
  schema: JsonObject;
  example?: JsonValue;
  examples?: Record<string, { value: JsonValue }>;
}

/**
 * The operation, and once more for each preference that needs a permission of its own, as an operation with that permission.
 *
 * Throws an Error that names what the description of an operation lacks: an example of its body or of a
 * required parameter, or an example that shows every kind of id.
 */
export function matrixOperations(
  document: OpenApiDocument,
  placed: PlacedOperation,
): MatrixOperation[] {
  const plain = matrixOperation(document, placed);
  const { id, access, parameters } = plain;
  const preferring = Object.entries(access.permissionOfPreference ?? {}).map(
    ([preference, permission]) => ({
      ...plain,
      name: `${id} with ${preference}`,
      access: { ...access, permission },
      parameters: [...parameters, { in: 'header', name: 'Prefer', example: preference }],
    }),
  );
  return [plain, ...preferring];
}

function matrixOperation(
  document: OpenApiDocument,
  { path, method, operation, parameters: given }: PlacedOperation,
): MatrixOperation {
  const { operationId: id, 'x-access': access } = operation;
  const parameters = given.map((it) => resolveReference<Parameter>(document, it));
  const described = (operation.requestBody as { content: Record<string, Content> } | undefined)
    ?.content['application/json'];
  const body =
    described && (described.example ?? Object.values(described.examples ?? {})[0]?.value);
  if (described !== undefined && body === undefined) {
    throw new Error(`${id} needs an example of its body in the OpenAPI document`);
  }
  return {
    id,
    name: id,
    method: method.toUpperCase(),
    path,
    access,
    places: [
      ...parameters.filter(isIdParameter).map((it) => parameterPlace(it, access)),
      ...bodyPlaces(document, id, described?.schema, body),
    ],
    parameters: parameters
      .filter((it) => (it.required || it.in === 'path') && !isIdParameter(it))
      .map(({ in: place, name, example }) => {
        if (example === undefined) throw new Error(`${id} needs an example of its ${name}`);
        return { in: place, name, example: String(example) };
      }),
    body,
  };
}

function isIdParameter({ in: place, name, schema }: Parameter): boolean {
  return schema.format === 'uuid' || (place !== 'header' && /Ids?$/.test(name));
}

function parameterPlace({ in: place, name }: Parameter, access: DescribedAccess): IdPlace {
  const sent = place === 'path' || (name === RETAILER_CONTEXT && access.requiresRetailer === true);
  return { in: place, name: name === RETAILER_CONTEXT ? 'retailerId' : name, steps: [name], sent };
}

/**
 * The places of ids in a body. An id that the example leaves out is put in where the example has the object
 * that holds the id.
 */
function bodyPlaces(
  document: OpenApiDocument,
  operation: string,
  root: JsonObject | undefined,
  example: JsonValue | undefined,
): IdPlace[] {
  const places: IdPlace[] = [];
  const shown = new Set<JsonObject>();
  const missing = new Map<JsonObject, string>();
  visit(root, example, []);
  for (const [schema, pointer] of missing) {
    if (!shown.has(schema)) throw new Error(`${operation} needs an example that shows ${pointer}`);
  }
  return places;

  function visit(given: JsonObject | undefined, value: JsonValue | undefined, steps: string[]) {
    if (given === undefined || steps.length > 8) return;
    const schema = resolveReference<JsonObject>(document, given);
    const { properties = {}, items, allOf = [] } = schema as Record<string, JsonObject>;
    for (const part of allOf as unknown as JsonObject[]) visit(part, value, steps);
    if (items !== undefined) visit(items, (value as JsonValue[] | undefined)?.[0], [...steps, '0']);
    for (const [name, of] of Object.entries(properties as Record<string, JsonObject>)) {
      visit(of, (value as JsonObject | undefined)?.[name], [...steps, name]);
    }
    const [last = '', beforeLast = ''] = steps.toReversed();
    const isItem = last === '0';
    const name = isItem ? beforeLast.replace(/s$/, '') : last;
    if (schema.format !== 'uuid' && !(schema.type === 'string' && /Id$/.test(name))) return;
    const holder = valueAt(example, steps.slice(0, isItem ? -2 : -1));
    if (value === undefined && typeof holder !== 'object') {
      missing.set(schema, `/${steps.join('/')}`);
      return;
    }
    shown.add(schema);
    places.push({ in: 'body', name, steps, sent: value !== undefined });
  }
}

function valueAt(value: JsonValue | undefined, steps: readonly string[]): JsonValue | undefined {
  return steps.reduce<JsonValue | undefined>(
    (found, step) => (found as JsonObject | undefined)?.[step],
    value,
  );
}
