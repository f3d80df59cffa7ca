/** The name by which a request is followed through the platform. */
import { newId } from '@creditlane/runtime/ids';

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/;

/** The caller's own id when it has the accepted form, else a new one. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : newId();
}
