/** The published OpenAPI document, changed to what the renderer of the documentation page shows best. */
import { PROBLEM_TYPE } from '../../http/media-types.ts';
import type { MediaType } from '../examples.ts';
import {
  type DescribedParameter,
  type JsonObject,
  type OpenApiDocument,
  operationsIn,
  type Reference,
  resolveReference,
} from '../openapi-document.ts';

/** Every operation that has this tag has another one before it. */
const EXTENSION = 'extension';

/** What this file changes in an operation. */
interface ShownOperation {
  tags?: string[];
  'x-badges'?: { name: string }[];
  responses: Record<string, ShownResponse>;
}

type ShownResponse = { content?: JsonObject } | Reference;

type ShownParameter = DescribedParameter & { example?: unknown; examples?: object };

/** A copy of the published document for the page. */
export function pageDocument(published: OpenApiDocument): OpenApiDocument {
  const { tags, paths, components, ...rest } = structuredClone(published) as OpenApiDocument & {
    tags: { name: string }[];
  };
  for (const { operation, parameters } of operationsIn(paths)) {
    parameters.forEach(leaveOut);
    changeOperation(operation as unknown as ShownOperation);
    for (const it of Object.values(operation.responses)) inlineExamples(published, it as never);
  }
  Object.values(components.parameters ?? {}).forEach((it) => void leaveOut(it as never));
  for (const it of Object.values(components.responses ?? {}) as ShownResponse[]) {
    dropProblem(it);
    inlineExamples(published, it);
  }
  return {
    ...rest,
    tags: tags.filter(({ name }) => name !== EXTENSION),
    paths,
    components,
  } as OpenApiDocument;
}

/** An extension is shown in the section of its first tag alone, with a badge. */
function changeOperation(operation: ShownOperation): void {
  if (operation.tags?.includes(EXTENSION)) {
    operation.tags = operation.tags.filter((tag) => tag !== EXTENSION);
    operation['x-badges'] = [{ name: EXTENSION }];
  }
  Object.values(operation.responses).forEach(dropProblem);
}

/** Requests of the page would otherwise send the examples of all optional parameters, until each is unticked. */
function leaveOut(parameter: ShownParameter | Reference): void {
  if ('$ref' in parameter || parameter.required || parameter.example === undefined) return;
  parameter.examples = { example: { value: parameter.example, 'x-disabled': true } };
  delete parameter.example;
}

/** Scalar names an example that is a reference by its key instead of its summary. */
function inlineExamples(document: OpenApiDocument, response: ShownResponse): void {
  if ('$ref' in response) return;
  for (const media of Object.values(response.content ?? {}) as Pick<MediaType, 'examples'>[]) {
    if (media.examples === undefined) continue;
    const examples = Object.entries(media.examples).map(([name, example]) => [
      name,
      resolveReference(document, example),
    ]);
    media.examples = Object.fromEntries(examples);
  }
}

/** Scalar takes problem details for application/json, and would show them in the place of its examples. */
function dropProblem(response: ShownResponse): void {
  if (!('$ref' in response)) delete response.content?.[PROBLEM_TYPE];
}
