/** The types of the operations, all derived from the OpenAPI document: a new operation needs no line here. */
import type { operations } from './gen/openapi.ts';
import type { OPERATIONS } from './gen/tables.ts';

export type OperationId = keyof typeof OPERATIONS;

/** What a call may be given beside the operation's own input. */
export interface CallOptions {
  /** Ends the call, also while it waits for its next attempt; it rejects with the signal's reason. */
  signal?: AbortSignal;
  /** How long one attempt may take, its answer's body included; the client's `timeoutMs` when left out. */
  timeoutMs?: number;
  /** 1 for no retries; the client's `maxAttempts` when left out. */
  maxAttempts?: number;
}

type JsonContent<Body> = { content: { 'application/json': Body } };

type BodyInput<RequestBody> = [NonNullable<RequestBody>] extends [never]
  ? { body?: never }
  : NonNullable<RequestBody> extends JsonContent<infer Body>
    ? undefined extends RequestBody
      ? { body?: Body }
      : { body: Body }
    : never;

/** The path, query and header parameters and the body of an operation, as its description names them. */
export type OperationInput<Id extends OperationId> = Pick<
  operations[Id]['parameters'],
  'path' | 'query' | 'header'
> &
  BodyInput<operations[Id]['requestBody']>;

type SuccessStatus = 200 | 201 | 202 | 204;

/** JSON as its schema describes it; bytes for other content; undefined where there is none. */
type AnswerBody<Response> =
  Response extends JsonContent<infer Body>
    ? Body
    : Response extends { content: Record<string, unknown> }
      ? Uint8Array
      : undefined;

export interface Answer<Status = number, Body = unknown> {
  status: Status;
  body: Body;
  headers: Headers;
  /** The `X-Request-Id` of the answer. */
  requestId: string;
  /** Whether this is the stored answer of an earlier request with the same Idempotency-Key. */
  replayed: boolean;
}

type Responses<Id extends OperationId> = operations[Id]['responses'];

/** One answer type for each success status of the operation, told apart by `status`. */
export type AnswerOf<Id extends OperationId> = {
  [Status in keyof Responses<Id> & SuccessStatus]: Answer<
    Status,
    AnswerBody<Responses<Id>[Status]>
  >;
}[keyof Responses<Id> & SuccessStatus];

export type CallArguments<Id extends OperationId> =
  Partial<OperationInput<Id>> extends OperationInput<Id>
    ? [input?: OperationInput<Id>, options?: CallOptions]
    : [input: OperationInput<Id>, options?: CallOptions];

type RecordOf<Id extends OperationId> =
  AnswerOf<Id> extends Answer<number, { data: (infer Item)[] }> ? Item : never;

/** What a list has beside the call that reads one page of it. */
interface PagedOperation<Id extends OperationId> {
  /** All records from the given cursor on, page after page; a page is read when its first record is asked for. */
  each(...args: CallArguments<Id>): AsyncGenerator<RecordOf<Id>, void, undefined>;
}

type IsPaged<Id extends OperationId> = (typeof OPERATIONS)[Id] extends { pageSize: number }
  ? true
  : false;

/** Rejects with a CreditlaneError unless the answer is a success. */
export type Operation<Id extends OperationId> = ((
  ...args: CallArguments<Id>
) => Promise<AnswerOf<Id>>) &
  (IsPaged<Id> extends true ? PagedOperation<Id> : unknown);

export type Client = { readonly [Id in OperationId]: Operation<Id> };
