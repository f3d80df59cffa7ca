/** The address at which clients reach the gateway, which only its operator knows: a request's Host may name any. */
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';

/**
 * Reads an http or https URL without user, query and fragment, and returns it without a final slash.
 *
 * @throws NotPublicUrlError
 */
export function parsePublicUrl(text: string): string {
  if (!URL.canParse(text)) throw new NotPublicUrlError();
  const { protocol, origin, pathname, username, search, hash } = new URL(text);
  const isHttp = protocol === 'https:' || protocol === 'http:';
  if (!isHttp || username !== '' || search !== '' || hash !== '') throw new NotPublicUrlError();
  return origin + pathname.replace(/\/+$/, '');
}

/**
 * The path with which addresses of this server begin for its clients, such as `/lending`; empty without one. What leads to another
 * path of this server begins with it, because a proxy may have taken it off the request.
 */
export function publicPathOf(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/$/, '');
}

class NotPublicUrlError extends LoggableError {
  constructor() {
    super('must be an http or https URL without user, query and fragment');
  }
}
