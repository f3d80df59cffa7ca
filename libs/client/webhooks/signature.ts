/** The two signatures of a webhook: those of Standard Webhooks, and the hex HMAC of the body. */
import { WebhookVerificationError } from './verification-error.ts';
import { nameOfPayload, signatureHeaderOf } from './webhook-event.ts';

type Bytes = Uint8Array<ArrayBuffer>;
/** Named by the function that makes it, because the types of Node and those of browsers declare it in different places. */
export type SecretKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** What a request's headers say is signed, and by which signatures; one that matches is enough. */
export interface Signed {
  readonly header: string;
  readonly signatures: readonly Bytes[];
  /** The signed bytes for a body. */
  content(body: Bytes): Bytes;
  readonly id?: string;
  /** Of the attempt; absent where the scheme has none. */
  readonly timestampMs?: number;
}

/** Reads a header by its name in any case. */
export type ReadHeader = (name: string) => string | undefined;

const HEX_HEADERS = ['X-SERVICE-SIGNATURE', 'X-INTEGRATION-SIGNATURE'];
/** A rotation keeps four secrets at most; more signatures than this are not checked. */
const MAX_SIGNATURES = 16;
/**
 * A signature of version 1, which is not empty. Between signatures is a blank; proxies and frameworks that take the comma after
 * the version for the end of a header's value split the header there, or put a comma and a blank between two signatures.
 */
const SIGNATURE = /(?<=^|[ ,])v1, ?([A-Za-z0-9+/]+={0,2})(?=$|[ ,])/g;

/** @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
export function standardSignature(header: ReadHeader): Signed {
  const id = required(header, 'webhook-id');
  const timestamp = required(header, 'webhook-timestamp');
  const given = required(header, 'webhook-signature');
  const timestampMs = timestampMsOf(timestamp);
  if (timestampMs === undefined) throw malformed('webhook-timestamp', 'seconds since 1970');
  if (/^[0-9a-f]{64}$/.test(given)) {
    throw new WebhookVerificationError(
      'wrong_header',
      'webhook-signature holds a hex signature, which belongs into X-SERVICE-SIGNATURE.',
    );
  }
  const signatures = [...given.matchAll(SIGNATURE)]
    .slice(0, MAX_SIGNATURES)
    .flatMap(([, text = '']) => decodeBase64(text) ?? []);
  if (signatures.length === 0) throw malformed('webhook-signature', '"v1," and base64');
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  return {
    header: 'webhook-signature',
    signatures,
    content: (body) => joined(prefix, body),
    id,
    timestampMs,
  };
}

/** Reads the header in which the payload's event is signed; for an unknown event, whichever there is. */
export function hexSignature(header: ReadHeader, payload: unknown): Signed {
  const name = expectedHeader(payload) ?? HEX_HEADERS.find((it) => header(it) !== undefined);
  const given = required(header, name ?? 'X-SERVICE-SIGNATURE');
  if (given.startsWith('v1,')) {
    throw new WebhookVerificationError(
      'wrong_header',
      `${name} holds a signature of Standard Webhooks, which belongs into webhook-signature.`,
    );
  }
  const signature = decodeHex(given);
  if (signature === undefined) throw malformed(`${name}`, '64 lower-case hex digits');
  return { header: `${name}`, signatures: [signature], content: (body) => body };
}

/**
 * Throws `wrong_header` when the header is not the one in which the payload's event is signed. The payload is not verified
 * yet: it decides only for which reason the webhook is refused.
 */
export function refuseHeaderOfOtherEvent(header: ReadHeader, payload: unknown): void {
  const expected = expectedHeader(payload);
  if (expected === undefined || header(expected) !== undefined) return;
  const other = HEX_HEADERS.find((name) => header(name) !== undefined);
  if (other === undefined) return;
  throw new WebhookVerificationError(
    'wrong_header',
    `The signature is in ${other}, but ${nameOfPayload(payload)} is signed in ${expected}.`,
  );
}

/** Whether one of the keys made one of the signatures for this body. */
export async function isSignedBy(
  signed: Signed,
  keys: readonly SecretKey[],
  body: Bytes,
): Promise<boolean> {
  const content = signed.content(body);
  const checks = keys.flatMap((key) =>
    // `verify` of Web Crypto compares in constant time.
    signed.signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, content)),
  );
  return (await Promise.all(checks)).includes(true);
}

function joined(one: Uint8Array, other: Uint8Array): Bytes {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}

export function decodeBase64(text: string): Bytes | undefined {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
    return undefined;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function decodeHex(text: string): Bytes | undefined {
  if (!/^[0-9a-f]{64}$/.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

function expectedHeader(payload: unknown): string | undefined {
  const name = nameOfPayload(payload);
  return name && signatureHeaderOf(name);
}

/** The time of the header `webhook-timestamp`; undefined without one that is readable. */
export function timestampMsOf(timestamp: string | undefined): number | undefined {
  return timestamp !== undefined && /^\d{1,12}$/.test(timestamp)
    ? Number(timestamp) * 1000
    : undefined;
}

function required(header: ReadHeader, name: string): string {
  const value = header(name);
  if (value !== undefined && value !== '') return value;
  throw new WebhookVerificationError('missing_header', `The header ${name} is missing.`);
}

function malformed(name: string, wanted: string): WebhookVerificationError {
  return new WebhookVerificationError('malformed_header', `The header ${name} is not ${wanted}.`);
}
