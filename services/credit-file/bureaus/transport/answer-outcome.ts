/** What a whole HTTP answer says about an inquiry, when it has no answer of the bureau's format. */
import type { BureauAnswer, RefusalReason } from '../bureau.ts';
import type { HttpAnswer } from './exchange.ts';
import type { InquiryOutcome } from './inquiry-outcome.ts';

/**
 * An answer that the format can read counts, whatever its status is. Of any other, the status decides:
 *
 * | status | outcome |
 * |---|---|
 * | 2xx | malformed; unknown if the connection's end alone ended the body, which may then be cut |
 * | 307, 308 | refused: the request is to be made at another URL, so none was made; not followed |
 * | other 3xx | unknown: after a POST these may mean that the answer waits at another URL |
 * | 401, 403 | refused for the credentials |
 * | 408, 425, 429 | refused, unavailable: the server permits a later repetition |
 * | other 4xx | refused: the server says that the request was not carried out |
 * | 5xx | unknown: the server, or a gateway before it, failed after it got the inquiry |
 */
export function outcomeOfAnswer(http: HttpAnswer, answer: BureauAnswer): InquiryOutcome {
  const { status, isDelimited } = http;
  if (answer.kind !== 'malformed') return { kind: 'answered', answer };
  if (status >= 500) return { kind: 'unknown', reason: 'server_error' };
  if (status >= 400) return refused(status, refusalOf(status));
  if (status === 307 || status === 308) return refused(status, 'rejected');
  if (status >= 300) return { kind: 'unknown', reason: 'redirected' };
  if (!isDelimited) return { kind: 'unknown', reason: 'answer_incomplete' };
  return { kind: 'answered', answer };
}

/**
 * Whether the answer proves that the inquiry was turned away for its access token alone, so that no inquiry
 * was made (RFC 6750, 3.1).
 */
export function rejectsToken({ status, headers }: HttpAnswer): boolean {
  const challenge = String(headers['www-authenticate'] ?? '');
  return status === 401 && /^bearer\b.*\berror="?invalid_token\b/i.test(challenge);
}

function refusalOf(status: number): RefusalReason {
  if (status === 401 || status === 403) return 'credentials';
  return status === 408 || status === 425 || status === 429 ? 'unavailable' : 'rejected';
}

function refused(status: number, reason: RefusalReason): InquiryOutcome {
  return { kind: 'answered', answer: { kind: 'refused', reason, code: `HTTP_${status}` } };
}
