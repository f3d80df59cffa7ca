/** The published OpenAPI document, changed to what the renderer of the documentation page shows best. */
import {
  type DescribedParameter,
  HTTP_METHODS,
  type JsonObject,
  type OpenApiDocument,
  type Reference,
} from '../openapi-document.ts';

/** Every operation that has this tag has another one before it. */
const EXTENSION = 'extension';
const PROBLEM_TYPE = 'application/problem+json';

/** What this file changes in an operation. */
interface ShownOperation {
  tags?: string[];
  'x-badges'?: { name: string }[];
  parameters?: (ShownParameter | Reference)[];
  responses: Record<string, { content?: JsonObject } | Reference>;
}

type ShownParameter = DescribedParameter & { example?: unknown; examples?: object };

/** A copy of the published document for the page. */
export function pageDocument(published: OpenApiDocument): OpenApiDocument {
  const { tags, paths, components, ...rest } = structuredClone(published) as OpenApiDocument & {
    tags: { name: string }[];
  };
  for (const item of Object.values(paths)) {
    item.parameters?.forEach(leaveOut);
    for (const method of HTTP_METHODS) {
      const operation = item[method];
      if (operation !== undefined) changeOperation(operation as unknown as ShownOperation);
    }
  }
  Object.values(components.parameters ?? {}).forEach((it) => void leaveOut(it as never));
  Object.values(components.responses ?? {}).forEach((it) => void dropProblem(it as never));
  return {
    ...rest,
    ...{ tags: tags.filter(({ name }) => name !== EXTENSION) },
    paths,
    components,
  };
}

/** An extension is shown in the section of its first tag alone, with a badge. */
function changeOperation(operation: ShownOperation): void {
  if (operation.tags?.includes(EXTENSION)) {
    operation.tags = operation.tags.filter((tag) => tag !== EXTENSION);
    operation['x-badges'] = [{ name: EXTENSION }];
  }
  operation.parameters?.forEach(leaveOut);
  Object.values(operation.responses).forEach(dropProblem);
}

/** Requests of the page would otherwise send the examples of all optional parameters, until each is unticked. */
function leaveOut(parameter: ShownParameter | Reference): void {
  if ('$ref' in parameter || parameter.required || parameter.example === undefined) return;
  parameter.examples = { example: { value: parameter.example, 'x-disabled': true } };
  delete parameter.example;
}

/** Scalar takes problem details for application/json, and would show them in the place of its examples. */
function dropProblem(response: { content?: JsonObject } | Reference): void {
  if (!('$ref' in response)) delete response.content?.[PROBLEM_TYPE];
}
