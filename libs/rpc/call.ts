/** What a call carries beside its message, for the handler and as metadata. */
import { createHash } from 'node:crypto';
import { type DescMessage, type MessageShape, toBinary } from '@bufbuild/protobuf';
import type { Identity } from './identity.ts';

/** Identifies the stored answer of an idempotency key. */
export type CallIdempotency = {
  callerId: string;
  /** "package.Service/Method". */
  operation: string;
  key: string;
  /** SHA-256 of the request. A different digest shows that the key was used for another request. */
  requestDigest: Buffer;
  /** The digests that the stored answer of the same request may have instead, where the digest depends on a key. */
  otherDigests?: () => Buffer[];
};

/**
 * The call that a handler answers. A handler that passes it to a method of a `PeerClient` passes on the deadline, the
 * signal, the request id and the trace; the identity of that call is the service's own.
 */
export type Call = {
  readonly identity: Identity;
  /** Aborts when the deadline passes or the caller cancels; the reason is a Fault. */
  readonly signal: AbortSignal;
  /** When the caller stops waiting, in milliseconds since the epoch. */
  readonly deadlineMs: number;
  readonly requestId: string;
  readonly traceparent?: string | undefined;
  readonly idempotency?: CallIdempotency | undefined;
  /** A UUID that all attempts of one call share. Calls with an idempotency key have none. */
  readonly retryToken?: string | undefined;
  /** Marks the answer as a stored answer of the call's idempotency key; the caller sees the mark. */
  markReplayed(): void;
};

/** The names of the metadata; each is a header over HTTP. */
export const AUTHORIZATION = 'authorization';
export const REQUEST_ID = 'x-request-id';
export const TRACEPARENT = 'traceparent';
export const IDEMPOTENCY_KEY = 'idempotency-key';
export const RETRY_TOKEN = 'call-id';
/** Metadata of an answer: "true" when the answer is a stored answer. */
export const REPLAYED = 'idempotent-replayed';

/** Returns the value of one metadata entry, by its name in lower case. */
export type ReadMetadata = (name: string) => string | null | undefined;

/** The digest by which a repeated request is recognised as the same. */
export function requestDigestOf<Desc extends DescMessage>(
  schema: Desc,
  request: MessageShape<Desc>,
): Buffer {
  return createHash('sha256').update(toBinary(schema, request)).digest();
}
