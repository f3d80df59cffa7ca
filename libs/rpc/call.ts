/** What a call carries beside its message: for the handler that answers it, and on the wire. */
import type { Identity } from './identity.ts';

/** Names the answers given before to calls with one key; see `idempotency-key`. */
export type CallIdempotency = {
  callerId: string;
  /** "package.Service/Method". */
  operation: string;
  key: string;
  /** SHA-256 of the request, by which a key used for something else is told. */
  requestDigest: Buffer;
};

/** The call a handler answers. Passed on as `{ ...call, identity }`, its limits hold for the peer too. */
export type Call = {
  readonly identity: Identity;
  /** Aborts when the deadline passes or the caller gives up; its reason is a Fault. */
  readonly signal: AbortSignal;
  /** The instant, in milliseconds since the epoch, at which the caller stops waiting. */
  readonly deadlineMs: number;
  readonly requestId: string;
  readonly traceparent?: string | undefined;
  readonly idempotency?: CallIdempotency | undefined;
  /** A UUID that all attempts at one call share. Calls with an idempotency key have none. */
  readonly retryToken?: string | undefined;
  /** Marks the answer as a stored answer of the call's idempotency key; the caller sees the mark. */
  markReplayed(): void;
};

/** The metadata of a call; each is a header over HTTP. */
export const AUTHORIZATION = 'authorization';
export const REQUEST_ID = 'x-request-id';
export const TRACEPARENT = 'traceparent';
export const IDEMPOTENCY_KEY = 'idempotency-key';
/** See `Call`. */
export const RETRY_TOKEN = 'call-id';
/** "true" on an answer that was given before. */
export const REPLAYED = 'idempotent-replayed';

/** Gives a metadatum by its lower-case name. */
export type Metadata = (name: string) => string | null | undefined;
