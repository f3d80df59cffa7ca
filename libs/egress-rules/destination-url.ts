/**
 * The rules for outgoing requests: which URLs and addresses webhooks may be sent to. This file checks a
 * URL by itself. The addresses that its host name resolves to are checked when the connection is made.
 */
import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

/** The egress settings. `allowHttp` and `allowLoopback` are for development and tests. */
export interface EgressPolicy {
  readonly allowHttp: boolean;
  /** Allows the addresses of this machine, with any port. */
  readonly allowLoopback: boolean;
  /** The allowed ports of https, and of http where http is allowed. */
  readonly ports: readonly number[];
  /** Names that may be internal; none when left out. */
  readonly privateHosts?: readonly string[];
}

/** A request was not sent because its destination is not allowed. `code` is a stable name of the reason. */
export class EgressDeniedError extends LoggableError {
  readonly code: string;
  constructor(code: string) {
    super(`the destination is not allowed: ${code}`);
    this.code = code;
  }
}

/**
 * How long after it was asked for a destination may be used, by which requests begin. The integrations service answers a change of a
 * destination after this time: then no replica of the webhook dispatcher begins a request to what the destination was before.
 */
export const DESTINATION_USABLE_MS = 1_500;

// Suffixes of names that resolve only inside a cluster, a company or a private network.
const INTERNAL_SUFFIXES = [
  'local',
  'localhost',
  'localdomain',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'svc',
  'consul',
  'onion',
  'arpa',
];

/** One label of a host name. Some receivers have an underscore in theirs, which resolvers take. */
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
/** The limit of DNS, in the form without a final dot. */
const MAX_NAME_LENGTH = 253;

/**
 * What no path and no query may hold (RFC 3986, 3.3 and 3.4). The URL standard leaves some of it as it is, such as `|`, and
 * servers refuse the request.
 */
const TO_ENCODE = /[^\w.~!$&'()*+,;=:@/?%-]|%(?![\da-f]{2})/gi;

/**
 * Reads the URL of a destination that is being set. Throws EgressDeniedError when the URL is malformed, has a user name or
 * password, if only an empty one, or when its host is not spelled as the host that the URL parser makes of it: escapes,
 * full-width characters, `0x7f.1` and `127.0.0.1.` are further spellings of a host, by which two URLs differ and lead to the
 * same place. An internationalised name may be given in Unicode or as `xn--…`.
 */
export function readDestinationUrl(text: string): URL {
  const url = readCanonicalUrl(text);
  // The URL parser drops an empty user name.
  if (authorityOf(text).includes('@')) throw new EgressDeniedError('credentials_in_url');
  return url;
}

/**
 * The URL of an event: the destination's URL with the event's path appended, and with what servers refuse in a path or a
 * query percent-encoded. Throws EgressDeniedError unless the host is spelled as `readDestinationUrl` wants it.
 */
export function buildEventUrl(destination: string, eventPath: string): URL {
  const url = readCanonicalUrl(destination);
  url.pathname =
    url.pathname.replace(/\/+$/, '').replace(TO_ENCODE, encodeURIComponent) + eventPath;
  url.search = url.search.replace(TO_ENCODE, encodeURIComponent);
  return url;
}

function readCanonicalUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new EgressDeniedError('url_malformed');
  if (!/^https?:$/.test(url.protocol)) return url; // `checkEgressUrl` refuses the scheme.
  const host = authorityOf(text).replace(/^.*@/, '').replace(/:\d*$/, '').toLowerCase();
  if (host !== url.hostname && host !== domainToUnicode(url.hostname)) {
    throw new EgressDeniedError('host_not_canonical');
  }
  return url;
}

function authorityOf(text: string): string {
  return /^[a-z]+:\/\/([^/?#]*)/i.exec(text)?.[1] ?? '';
}

/** Throws EgressDeniedError unless webhooks may be sent to the URL. */
export function checkEgressUrl(url: URL, policy: EgressPolicy): void {
  const host = bareHost(url);
  const isAllowedLoopback =
    policy.allowLoopback && (host === 'localhost' || isLoopbackAddress(host));
  if (url.protocol !== 'https:' && !(policy.allowHttp && url.protocol === 'http:')) {
    throw new EgressDeniedError('scheme_not_allowed');
  }
  if (url.username !== '' || url.password !== '') throw new EgressDeniedError('credentials_in_url');
  if (isIP(host) === 0 && !isHostName(host)) throw new EgressDeniedError('host_name_invalid');
  if (portOf(url) === 0) throw new EgressDeniedError('port_not_allowed');
  if (isAllowedLoopback) return;
  if (!policy.ports.includes(portOf(url))) throw new EgressDeniedError('port_not_allowed');
  if (policy.privateHosts?.includes(url.hostname)) return;
  // Node does not look IP literals up, so they are checked here. The URL parser has already converted
  // forms such as 0x7f.1 to four decimal numbers.
  if (isIP(host) !== 0) {
    if (!isPublicAddress(host)) throw new EgressDeniedError('address_not_public');
    return;
  }
  if (isInternalName(host)) throw new EgressDeniedError('host_not_public');
}

/** The host as it is looked up: IPv6 without brackets. */
function bareHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/**
 * Whether the text is a name of DNS labels. A final dot, which marks a name as absolute in DNS, is not
 * permitted: it would be a second spelling of the name, and TLS names no host with it.
 */
function isHostName(host: string): boolean {
  return host.length <= MAX_NAME_LENGTH && host.split('.').every((label) => LABEL.test(label));
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function isInternalName(host: string): boolean {
  return !host.includes('.') || INTERNAL_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));
}
