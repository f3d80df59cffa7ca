/** Why exchanges fail: a stable word of ours for programs, and a sentence for the people who run the receiver. */
import { EgressDeniedError } from '@creditlane/egress-rules/destination-url';
import { isTlsError } from '@creditlane/runtime/telemetry/tls-errors';

/** The words for failed handshakes, by the codes that Node and OpenSSL give; the first that matches counts. */
const TLS_REASONS: readonly (readonly [code: RegExp, reason: string])[] = [
  // Alerts about the client's certificate, and the platform has none. In TLS 1.2 most servers send another one instead.
  [
    /ALERT_(CERTIFICATE_(REQUIRED|EXPIRED|REVOKED|UNKNOWN)|(BAD|UNSUPPORTED)_CERTIFICATE|UNKNOWN_CA)$/,
    'tls_client_certificate_required',
  ],
  [/ALERT_PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$/, 'tls_version_refused'],
  [/ALTNAME|^HOSTNAME_MISMATCH$/, 'tls_name_mismatch'],
  [/^CERT_HAS_EXPIRED$/, 'tls_certificate_expired'],
  [/^CERT_NOT_YET_VALID$/, 'tls_certificate_not_yet_valid'],
  [/^DEPTH_ZERO_SELF_SIGNED_CERT$/, 'tls_certificate_self_signed'],
  [/SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/, 'tls_authority_unknown'],
  [/UNRECOGNIZED_NAME$/, 'tls_name_unknown'],
  [/WRONG_VERSION_NUMBER$|PACKET_LENGTH_TOO_LONG$|HTTP_REQUEST$/, 'tls_not_spoken'],
  [
    /ALERT_(HANDSHAKE_FAILURE|INSUFFICIENT_SECURITY|NO_APPLICATION_PROTOCOL)$/,
    'tls_handshake_refused',
  ],
  // Node has no code of its own for certificates with a weak key or signature.
  [
    /^(CERT_|INVALID_|PATH_LENGTH|UNSPECIFIED$)|_(EE|CA)_(KEY|MD)_TOO_(SMALL|WEAK)$/,
    'tls_certificate_invalid',
  ],
];

const SENTENCES: Readonly<Record<string, string>> = {
  deadline: 'Your receiver did not answer in time.',
  connection_closed: 'Your receiver closed the connection before it had answered.',
  econnreset: 'Your receiver, or a machine on the way to it, reset the connection.',
  econnrefused: 'No server listens at the port of the URL.',
  etimedout: 'No connection came about in time.',
  name_unknown: 'The host name of the URL has no address.',
  address_not_public: 'The host name of the URL leads to an address that is not public.',
  answer_malformed: 'The answer is not HTTP.',
  answer_too_large: 'The head of the answer, or what came instead of it, is too large.',
  answer_too_fragmented: 'The head of the answer came in too many pieces.',
  too_many_headers: 'The answer has more than 1,000 headers.',
  too_many_interim_answers: 'More than 64 answers of 1xx came before the final one.',
  handshake_too_large: "Your receiver's part of the TLS handshake is too large.",
  tls_client_certificate_required:
    'Your receiver demands a client certificate, and the platform has none.',
  tls_version_refused: 'Your receiver speaks neither TLS 1.2 nor TLS 1.3.',
  tls_name_mismatch: "Your receiver's certificate is not for the host of the URL.",
  tls_certificate_expired:
    "Your receiver's certificate, or one that it sends with it, has expired.",
  tls_certificate_not_yet_valid:
    "Your receiver's certificate, or one that it sends with it, is not valid yet.",
  tls_certificate_self_signed: "Your receiver's certificate is signed by no authority.",
  tls_authority_unknown:
    "The platform does not know the authority of your receiver's certificate, or your receiver does not send the intermediate certificates.",
  tls_certificate_invalid: "Your receiver's certificate is revoked, too weak, or not for servers.",
  tls_name_unknown: 'Your receiver has no certificate for the host of the URL.',
  tls_not_spoken: 'The server at the port of the URL does not speak TLS.',
  tls_handshake_refused:
    'Your receiver refused the TLS handshake: it demands a client certificate, another cipher suite, or another protocol than HTTP/1.1.',
  tls_failed: 'The TLS connection to your receiver failed.',
};

/** The word for a connection that closed with this error, or without any. */
export function reasonOf(error: Error | undefined): string {
  if (error === undefined) return 'connection_closed';
  if (error instanceof EgressDeniedError) return error.code;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return 'connection_failed';
  const tlsReason = TLS_REASONS.find(([pattern]) => pattern.test(code))?.[1];
  return tlsReason ?? (isTlsError(error) ? 'tls_failed' : code.toLowerCase());
}

/** The sentence for the word of a failure; empty for one that has none. */
export function sentenceOf(reason: string): string {
  return SENTENCES[reason] ?? '';
}
