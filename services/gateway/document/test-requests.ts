/** For tests: generates requests for an operation from its description, acceptable ones and others. */
import fc from 'fast-check';
import type { DescribedParameter, JsonObject, OpenApiDocument } from './openapi-document.ts';
import type { Operation } from './operation.ts';
import { type ValueSchema, validValues, valuesWithMistake } from './test-schema-values.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** How many requests of each kind and operation, and the seed that they are made from. */
    generatedRequests: { runs: number; seed: number };
  }
}

export interface GeneratedRequest {
  /** With the base path and the query. */
  path: string;
  headers: Record<string, string>;
  /** A string or bytes are sent as they are; undefined sends no body. */
  body: unknown;
}

/** By the name of a parameter or property that names a record: its value in requests that are acceptable. */
export type KnownRecords = Readonly<Record<string, unknown>>;

/** Generates the requests of one operation. */
export class RequestGenerator {
  readonly operation: Operation;
  readonly bodySchema: ValueSchema | undefined;
  readonly #document: OpenApiDocument;
  readonly #known: KnownRecords;

  constructor(document: OpenApiDocument, operation: Operation, known: KnownRecords) {
    const { route, method } = operation;
    const described = document.paths[route.slice('/v1'.length)]?.[method];
    this.operation = operation;
    this.bodySchema = described?.requestBody?.content['application/json']?.schema;
    this.#document = document;
    this.#known = known;
  }

  /** Requests that the description permits. Without `cursor`: no text is one unless an answer had it. */
  acceptable(): fc.Arbitrary<GeneratedRequest> {
    return this.#with({});
  }

  /** Requests of which one part is probably not acceptable. */
  withMistake(): fc.Arbitrary<GeneratedRequest> {
    const { parameters } = this.operation;
    const kinds = parameters.map((parameter) => this.#withWrong(parameter));
    kinds.push(this.#with({ query: fc.constant([['other', '1']]) }));
    if (this.bodySchema === undefined) return fc.oneof(...kinds);
    const known = { known: this.#known };
    const body = valuesWithMistake(this.#document, this.bodySchema, known);
    const bytes = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.json(),
      fc.uint8Array({ maxLength: 40 }),
      fc.tuple(body, fc.nat(300)).map(([value, end]) => JSON.stringify(value).slice(0, end)),
    );
    return fc.oneof(
      { weight: 5, arbitrary: this.#with({ body }) },
      { weight: 1, arbitrary: this.#with({ body: bytes }) },
      { weight: 2, arbitrary: fc.oneof(...kinds) },
    );
  }

  /** A body with every property that the schema has; undefined where the operation takes none. */
  completeBody(seed: number): unknown {
    if (this.bodySchema === undefined) return undefined;
    const options = { known: this.#known, complete: true };
    const bodies = validValues(this.#document, this.bodySchema, options);
    return fc.sample(bodies, { seed, numRuns: 1 })[0];
  }

  /** An acceptable request, some of whose parts are others. */
  #with(parts: {
    query?: fc.Arbitrary<[string, string][]>;
    /** In place of the parameter's own. */
    parameter?: [DescribedParameter, fc.Arbitrary<string>];
    body?: fc.Arbitrary<unknown>;
  }): fc.Arbitrary<GeneratedRequest> {
    const of = (place: DescribedParameter['in']) => {
      const own = this.operation.parameters.filter((parameter) => parameter.in === place);
      const [changed, values] = parts.parameter ?? [];
      const texts = own.map((it) => (it === changed && values ? values : this.#acceptable(it)));
      return fc
        .tuple(...texts)
        .map((given) =>
          given.flatMap((text, index) =>
            text === undefined ? [] : [[own[index]?.name ?? '', text] as [string, string]],
          ),
        );
    };
    const body =
      parts.body ??
      (this.bodySchema === undefined
        ? fc.constant(undefined)
        : validValues(this.#document, this.bodySchema, { known: this.#known, loose: true }));
    const more = parts.query ?? fc.constant([]);
    return fc
      .tuple(of('path'), of('query'), more, of('header'), body)
      .map(([path, query, otherQuery, header, body]) => {
        const names = new Map(path);
        const filled = this.operation.route.replaceAll(/\{(\w+)\}/g, (_, name) =>
          encodeURIComponent(names.get(name) ?? ''),
        );
        const search = new URLSearchParams([...query, ...otherQuery]).toString();
        return {
          path: search ? `${filled}?${search}` : filled,
          headers: Object.fromEntries(header),
          body,
        };
      });
  }

  /** The text of a parameter; undefined leaves it out. */
  #acceptable(parameter: DescribedParameter): fc.Arbitrary<string | undefined> {
    const { name, required = false, schema } = parameter;
    if (name in this.#known) return fc.constant(String(this.#known[name]));
    if (name === 'cursor') return fc.constant(undefined);
    // HTTP clients take the spaces around a header's value away.
    const texts =
      parameter.in === 'header'
        ? fc.stringMatching(/^[!-~]([ -~]{0,98}[!-~])?$/)
        : validValues(this.#document, schema as ValueSchema).map(String);
    return required ? texts : fc.option(texts, { nil: undefined });
  }

  #withWrong(parameter: DescribedParameter): fc.Arbitrary<GeneratedRequest> {
    const texts =
      parameter.in === 'header'
        ? fc.stringMatching(/^[!-~\xa1-\xff]?[ -~\xa1-\xff]{0,300}[!-~\xa1-\xff]?$/)
        : fc.oneof(
            fc.string({ unit: 'grapheme', maxLength: 60 }),
            fc.constantFrom('-1', '1e9', 'null', '2026-02-30', "'", '%00', '\u0000', '..', ' '),
          );
    const wrong = this.#with({ parameter: [parameter, texts] });
    if (parameter.in !== 'query') return wrong;
    const twice = texts.map((text): [string, string][] => [
      [parameter.name, text],
      [parameter.name, text],
    ]);
    return fc.oneof(wrong, this.#with({ query: twice }));
  }
}

/** The value without the part that the names lead to; `0` is the first item of an array. */
export function without(value: unknown, place: readonly string[]): unknown {
  const copy = structuredClone(value);
  const last = place.at(-1) ?? '';
  const holder = place.slice(0, -1).reduce((part, name) => (part as JsonObject)[name], copy);
  delete (holder as JsonObject)[last];
  return copy;
}
