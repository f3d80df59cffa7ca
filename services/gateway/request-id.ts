/** The names by which a request is followed through the platform. */
import { newId } from '@creditlane/runtime/ids';

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/;
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The caller's own id when it has the accepted form, else a new one. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : newId();
}

/** The caller's W3C trace context, version 00 form; undefined when it has another. */
export function traceparentFrom(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && TRACEPARENT.test(header) ? header : undefined;
}
