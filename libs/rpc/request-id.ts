/** The id by which one request is followed through the logs of every service. */
import { newId } from '@creditlane/runtime/ids';

/**
 * 1 to 200 visible ASCII characters: longer ids would swell every log line, and a line break or a control
 * character could forge one. The gateway and the services share this one rule, so an id that the gateway
 * accepts is the same in the answer and in the log of every service.
 */
const ACCEPTED = /^[\x21-\x7e]{1,200}$/;

/** The caller's id when it is acceptable, otherwise a new one. */
export function acceptedRequestId(header: string | string[] | null | undefined): string {
  return typeof header === 'string' && ACCEPTED.test(header) ? header : newId();
}
