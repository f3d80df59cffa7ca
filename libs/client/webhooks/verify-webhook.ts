/** Verifies a webhook of Creditlane before it is believed, and says what is wrong when it cannot be. */
import { bodyVariants, parseJson } from './body-variants.ts';
import { importSecrets } from './secret-keys.ts';
import {
  hexSignature,
  isSignedBy,
  type ReadHeader,
  refuseHeaderOfOtherEvent,
  type SecretKey,
  type Signed,
  standardSignature,
  timestampMsOf,
} from './signature.ts';
import { WebhookVerificationError } from './verification-error.ts';
import { nameOfPayload, type WebhookEvent } from './webhook-event.ts';

export { type VerificationFailure, WebhookVerificationError } from './verification-error.ts';
export type { WebhookEvent, WebhookName } from './webhook-event.ts';

const DEFAULT_TOLERANCE_MS = 5 * 60_000;

export interface ReceivedWebhook {
  /** The body as it arrived: read it before any middleware parses it. */
  body: Uint8Array | ArrayBuffer | string;
  /** The request's headers: those of fetch, or of Node with names in any case. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The destination's secrets, `whsec_…`: during a rotation the new one and the one before. */
  secrets: string | readonly string[];
  /** Secrets that are no longer valid: a webhook that one of them signed is refused as `old_secret`. */
  retiredSecrets?: readonly string[];
  /**
   * `standard`, by default: the `webhook-*` headers, whose timestamp keeps a captured webhook from being sent
   * again later. `hex`: X-SERVICE-SIGNATURE or X-INTEGRATION-SIGNATURE, which has no timestamp.
   */
  scheme?: 'standard' | 'hex';
  /** How far the webhook's time may be from `now`; 5 minutes by default. Not used by the scheme `hex`. */
  toleranceMs?: number;
  /** The receiver's time in milliseconds since 1970; `Date.now()` by default. */
  now?: number;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Resolves with the event. Rejects with a WebhookVerificationError, whose `reason` says what is wrong. */
export async function verifyWebhook(received: ReceivedWebhook): Promise<WebhookEvent> {
  const { scheme, toleranceMs = DEFAULT_TOLERANCE_MS, now = Date.now() } = received;
  const body = rawBytes(received.body);
  const text = new TextDecoder().decode(body);
  const payload = parseJson(text);
  const header = headerReader(received.headers);
  const keys = await importSecrets([received.secrets].flat());
  if (keys.length === 0) throw refusal('malformed_secret', 'No secret is given.');

  refuseHeaderOfOtherEvent(header, payload);
  const signed = scheme === 'hex' ? hexSignature(header, payload) : standardSignature(header);
  if (!(await isSignedBy(signed, keys, body))) {
    const retiredKeys = await importSecrets(received.retiredSecrets ?? []);
    throw await explainMismatch(signed, { body, text, header, keys, retiredKeys });
  }
  checkTime(signed, toleranceMs, now);
  if (payload === undefined) throw refusal('malformed_body', 'The body is not JSON.');
  return {
    type: nameOfPayload(payload) ?? 'unknown',
    payload,
    id: signed.id ?? (header('webhook-id') || undefined),
    sentAt: timeOf(signed.timestampMs ?? timestampMsOf(header('webhook-timestamp'))),
    sequence: sequenceOf(header('webhook-sequence')),
    isTest: header('webhook-test') === 'true',
  } as WebhookEvent;
}

function timeOf(timestampMs: number | undefined): Date | undefined {
  return timestampMs === undefined ? undefined : new Date(timestampMs);
}

function sequenceOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

interface Mismatch {
  body: Bytes;
  text: string;
  header: ReadHeader;
  keys: SecretKey[];
  retiredKeys: SecretKey[];
}

/** Nothing is accepted here: each case is refused, and differs in the reason. */
async function explainMismatch(
  signed: Signed,
  { body, text, header, keys, retiredKeys }: Mismatch,
): Promise<WebhookVerificationError> {
  if (await isSignedBy(signed, retiredKeys, body)) {
    return refusal('old_secret', `${signed.header} was made with a retired secret.`);
  }
  if (signed.timestampMs === undefined && (await isSignedByOldSecret(header, keys, body))) {
    const message = `${signed.header} was made with a newer secret than the given one.`;
    return refusal('old_secret', message);
  }
  for (const { bytes, change } of bodyVariants(body, text)) {
    if (await isSignedBy(signed, [...keys, ...retiredKeys], bytes)) {
      return refusal(
        'body_reserialised',
        `The body was ${change}: pass the bytes of the request as they arrived.`,
      );
    }
  }
  const message = `No given secret made ${signed.header} for this body. The body was changed, or the secret is of another destination or was rotated.`;
  return refusal('signature_mismatch', message);
}

/** During a rotation, `webhook-signature` still has a signature of the secret before. */
async function isSignedByOldSecret(
  header: ReadHeader,
  keys: SecretKey[],
  body: Bytes,
): Promise<boolean> {
  try {
    return await isSignedBy(standardSignature(header), keys, body);
  } catch {
    // Without readable headers of Standard Webhooks, the reason is that of the hex signature.
    return false;
  }
}

function checkTime({ timestampMs }: Signed, toleranceMs: number, now: number): void {
  if (timestampMs === undefined) return;
  const skewMs = now - timestampMs;
  if (Math.abs(skewMs) <= toleranceMs) return;
  const apart = `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'before' : 'after'}`;
  const message = `The webhook was signed ${apart} the receiver's time; ${toleranceMs / 1000} s are tolerated. The receiver's clock is wrong, or the webhook is sent again by someone else.`;
  throw new WebhookVerificationError('clock_skew', message, skewMs);
}

/** A copy of the bytes. Throws `body_reserialised` for anything else, such as the object of a JSON parser. */
function rawBytes(body: unknown): Bytes {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  // Not by `instanceof`: sandboxes of edge runtimes and of test runners hand over bytes of another global object.
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  }
  if (isArrayBuffer(body)) return new Uint8Array(body).slice();
  const message = `The body is ${body === undefined ? 'undefined' : 'a parsed value'}: pass the bytes of the request as they arrived.`;
  throw refusal('body_reserialised', message);
}

function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return Object.prototype.toString.call(value) === '[object ArrayBuffer]';
}

/** Of a header that came several times, the values are joined, as fetch does. */
function headerReader(headers: ReceivedWebhook['headers']): ReadHeader {
  if (isHeaders(headers)) return (name) => headers.get(name) ?? undefined;
  const values = new Map(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      value === undefined ? undefined : [value].flat().join(', '),
    ]),
  );
  return (name) => values.get(name.toLowerCase());
}

/** Also of a fetch other than the global one, whose Headers is a class of its own. */
function isHeaders(headers: ReceivedWebhook['headers']): headers is Headers {
  return typeof headers.get === 'function';
}

function refusal(
  reason: ConstructorParameters<typeof WebhookVerificationError>[0],
  message: string,
): WebhookVerificationError {
  return new WebhookVerificationError(reason, message);
}
