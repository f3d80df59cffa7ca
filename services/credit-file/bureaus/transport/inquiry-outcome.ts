/** What became of an inquiry: the bureau's answer, or what is known without one. */
import { EgressDeniedError } from '@creditlane/egress-rules/destination-url';
import { isTlsError } from '@creditlane/runtime/telemetry/tls-errors';
import type { BureauAnswer } from '../bureau.ts';
import type { BreakerVerdict } from './circuit-breaker.ts';

/** Why an inquiry was not sent, so that the bureau cannot have made it. */
export type NeverSentReason =
  /** The service is stopping; the inquiry may be made again later. */
  | 'stopping'
  /** Too many inquiries in a row have failed; the bureau is asked again after a while. */
  | 'breaker_open'
  /** Other inquiries had all connections for too long. */
  | 'connections_busy'
  /** No connection took the inquiry in time. */
  | 'deadline'
  /** The URL of the credentials, or an address of its host, is not permitted. */
  | 'address_denied'
  | 'name_unknown'
  | 'connection_refused'
  | 'connection_timeout'
  | 'connection_failed'
  /** No secure connection: a certificate, its name or the handshake. */
  | 'tls_failed'
  /** The bureau refused the client's credentials when it was asked for an access token. */
  | 'token_refused'
  /** The bureau turned the inquiry away because its access token does not hold any more. */
  | 'token_rejected'
  | 'token_failed'
  /** The service has no request format of this bureau. */
  | 'not_configured'
  /** The format could not make the request. */
  | 'request_invalid';

/** Why a request whose bytes may have been sent has no whole answer. */
export type LostReason = 'deadline' | 'stopping' | 'answer_too_large' | 'connection_lost';

/** Why it is unknown whether the bureau made an inquiry. */
type UnknownReason = LostReason | 'answer_incomplete' | 'server_error' | 'redirected';

export interface NeverSent {
  readonly kind: 'never_sent';
  readonly reason: NeverSentReason;
  /** The error of the connection, if there was one. */
  readonly error?: Error;
}

export type InquiryOutcome =
  | { readonly kind: 'answered'; readonly answer: BureauAnswer }
  | NeverSent
  /** The bytes of the inquiry may have reached the bureau, and no whole answer came. */
  | { readonly kind: 'unknown'; readonly reason: UnknownReason };

/** The inquiry was not sent: `prepare` has found that it must not be made, or not by this process. The caller does `instead`. */
export interface Withdrawn<Instead> {
  readonly kind: 'withdrawn';
  readonly instead: Instead;
}

/** The time for sending or for its turn, or the process, had ended before the request was sent. */
export class NotSentError extends Error {
  override name = 'NotSentError';
  readonly code: 'connections_busy' | 'deadline' | 'stopping';
  constructor(code: NotSentError['code']) {
    super(`not sent: ${code}`);
    this.code = code;
  }
}

const SYSTEM_ERRORS: Readonly<Record<string, NeverSentReason>> = {
  connections_busy: 'connections_busy',
  deadline: 'deadline',
  stopping: 'stopping',
  ENOTFOUND: 'name_unknown',
  ECONNREFUSED: 'connection_refused',
  UND_ERR_CONNECT_TIMEOUT: 'connection_timeout',
  ETIMEDOUT: 'connection_timeout',
  UND_ERR_DESTROYED: 'stopping',
  UND_ERR_CLOSED: 'stopping',
  EPROTO: 'tls_failed',
};

const NEVER_SENT_VERDICTS: Readonly<Record<NeverSentReason, BreakerVerdict>> = {
  stopping: 'nothing',
  breaker_open: 'nothing',
  // The inquiries that have the connections tell whether the bureau works.
  connections_busy: 'nothing',
  address_denied: 'nothing',
  not_configured: 'nothing',
  request_invalid: 'nothing',
  // The bureau works: it has checked one retailer's credentials.
  token_refused: 'success',
  token_rejected: 'success',
  deadline: 'failure',
  name_unknown: 'failure',
  connection_refused: 'failure',
  connection_timeout: 'failure',
  connection_failed: 'failure',
  tls_failed: 'failure',
  token_failed: 'failure',
};

export function neverSent(reason: NeverSentReason): NeverSent {
  return { kind: 'never_sent', reason };
}

/** The outcome for an error that came before the first byte of a request. */
export function neverSentAfter(error: Error): NeverSent {
  return { ...neverSent(reasonOf(error)), error };
}

function reasonOf(error: Error): NeverSentReason {
  if (error instanceof EgressDeniedError) {
    return error.code === 'name_unknown' ? 'name_unknown' : 'address_denied';
  }
  const code = 'code' in error ? String(error.code) : '';
  return SYSTEM_ERRORS[code] ?? (isTlsError(error) ? 'tls_failed' : 'connection_failed');
}

/** What the outcome says about the bureau, whoever's inquiry it was. */
export function verdictOf(outcome: InquiryOutcome): BreakerVerdict {
  if (outcome.kind === 'unknown') return outcome.reason === 'stopping' ? 'nothing' : 'failure';
  if (outcome.kind === 'never_sent') return NEVER_SENT_VERDICTS[outcome.reason];
  const { answer } = outcome;
  if (answer.kind === 'malformed') return 'nothing';
  return answer.kind === 'refused' && answer.reason === 'unavailable' ? 'failure' : 'success';
}
