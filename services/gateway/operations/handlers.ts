/**
 * The handlers of the operations, typed by the OpenAPI document: tsc refuses a handler that reads a field,
 * or answers with one, that the document does not describe.
 */
import type { operations as DescribedOperations, webhooks } from '@creditlane/client';
import type { CallContext } from '@creditlane/rpc/client';
import type { Operation } from '../document/operation.ts';
import type { QueryDefaults } from '../gen/query-defaults.ts';
import type { JSON_TYPE } from '../http/media-types.ts';
import type { OperationContext } from '../request-state.ts';
import type { Answerable, MismatchedFields } from './mismatched-fields.ts';

/** Without the webhooks, which the generated types list among the operations. */
type Served = Omit<DescribedOperations, keyof webhooks>;
export type OperationId = keyof Served;

type JsonType = typeof JSON_TYPE;

type ParametersOf<Id extends OperationId> = Served[Id]['parameters'];
type WithLowerCaseNames<Headers> = {
  [Name in keyof Headers as Lowercase<Name & string>]: Headers[Name];
};

type WithDefaults<Query, Name> = Query & Required<Pick<Query, Extract<keyof Query, Name>>>;
/** The query of a request, in which the validator has filled in the parameters that have a default. */
type QueryOf<Id extends OperationId> = WithDefaults<
  NonNullable<ParametersOf<Id>['query']>,
  Id extends keyof QueryDefaults ? QueryDefaults[Id] : never
>;

type BodyOf<Id extends OperationId> = Served[Id] extends {
  requestBody: { content: Record<JsonType, infer Body> };
}
  ? Body
  : NonNullable<Served[Id]['requestBody']> extends { content: Record<JsonType, infer Body> }
    ? Body | undefined
    : undefined;

/** A request that is authentic, valid and within its limits. */
export interface OperationCall<Id extends OperationId> {
  readonly path: NonNullable<ParametersOf<Id>['path']>;
  readonly query: QueryOf<Id>;
  /** By lower-case name. */
  readonly header: WithLowerCaseNames<NonNullable<ParametersOf<Id>['header']>>;
  /** UUIDs are in lower case. Undefined where the operation takes no body, or the request has none. */
  readonly body: BodyOf<Id>;
  /** For the calls to the services that are made in the caller's name. */
  readonly context: CallContext;
}

type SuccessStatus = 200 | 201 | 202 | 203 | 204 | 206;
type ContentOf<Response> = Response extends { content: infer Content }
  ? {
      [Type in keyof Content]: Type extends JsonType ? Content[Type] : Buffer;
    }[keyof Content]
  : undefined;
type ResponsesOf<Id extends OperationId> = Served[Id]['responses'];

/** The body of a success: JSON as described, bytes for any other type, or none. */
export type AnswerOf<Id extends OperationId> = {
  [Status in keyof ResponsesOf<Id> & SuccessStatus]: ContentOf<ResponsesOf<Id>[Status]>;
}[keyof ResponsesOf<Id> & SuccessStatus];

/**
 * Answers one operation. The status is the first success status that the document describes. Through `ctx`,
 * Koa's context, a handler may set another described status, and headers.
 */
export type Handler<Id extends OperationId> = (
  call: OperationCall<Id>,
  ctx: OperationContext,
) => Promise<Answerable<AnswerOf<Id>>>;

export type Handlers = { [Id in OperationId]: Handler<Id> };

/** A handler whose operation is known at run time only. */
export type BoundHandler = (call: never, ctx: OperationContext) => Promise<unknown>;

// biome-ignore lint/suspicious/noExplicitAny: a handler's parameters play no part here.
type Returned<H> = H extends (...args: any) => Promise<infer Answer> ? Answer : never;

/** Makes tsc refuse handlers whose answers differ from the document; the error names the fields. */
type Checked<H> = {
  [Id in keyof H]: Id extends OperationId
    ? [MismatchedFields<Returned<H[Id]>, AnswerOf<Id>>] extends [never]
      ? unknown
      : {
          'the answer differs from the document in': MismatchedFields<
            Returned<H[Id]>,
            AnswerOf<Id>
          >;
        }
    : { 'no such operation in the document': Id };
};

/** Returns the handlers unchanged. Makes tsc check them against the document. */
export function defineHandlers<H extends Partial<Handlers>>(handlers: H & Checked<H>): H {
  return handlers;
}

/**
 * The handler of each operation. Throws an Error that names every operation without a handler and every
 * handler without an operation.
 */
export function bindHandlers(
  operations: readonly Operation[],
  handlers: Record<string, BoundHandler>,
): ReadonlyMap<string, BoundHandler> {
  const bound = new Map(Object.entries(handlers));
  const ids = new Set(operations.map(({ id }) => id));
  const faults = [
    ...[...ids].filter((id) => !bound.has(id)).map((id) => `operation ${id} has no handler`),
    ...[...bound.keys()].filter((id) => !ids.has(id)).map((id) => `handler ${id} has no operation`),
  ];
  if (faults.length > 0) throw new Error(faults.join('; '));
  return bound;
}
