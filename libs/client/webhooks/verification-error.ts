/** Why a webhook is refused. */

/**
 * `missing_header`: a header of the signature is absent.
 * `wrong_header`: the signature is in a header of another event or of the other scheme.
 * `malformed_header`: a header of the signature cannot be read.
 * `signature_mismatch`: no given secret signed this body.
 * `body_reserialised`: the body is not the bytes that arrived, but JSON that was parsed or decoded before.
 * `old_secret`: signed with a retired secret, or verified with a secret that has been replaced.
 * `clock_skew`: the signature is right, and its time too far from the receiver's.
 * `malformed_secret`: a given secret is not `whsec_` and the base64 of 32 bytes.
 * `malformed_body`: the signature is right, and the body is not JSON.
 */
export type VerificationFailure =
  | 'missing_header'
  | 'wrong_header'
  | 'malformed_header'
  | 'signature_mismatch'
  | 'body_reserialised'
  | 'old_secret'
  | 'clock_skew'
  | 'malformed_secret'
  | 'malformed_body';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: VerificationFailure;
  /** Of `clock_skew`: the receiver's time less the webhook's; positive for a webhook from the past. */
  readonly skewMs: number | undefined;

  constructor(reason: VerificationFailure, message: string, skewMs?: number) {
    super(message);
    this.reason = reason;
    this.skewMs = skewMs;
  }
}
