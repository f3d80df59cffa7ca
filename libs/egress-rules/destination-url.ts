/**
 * The rules of the way out: which URLs and addresses beyond the platform webhooks may go to. Here a
 * URL is judged by itself; what its name leads to is for whoever dials it to look up and judge.
 */
import { isIP } from 'node:net';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

/** What the platform's settings allow. Both allowances are for local development and tests. */
export interface EgressPolicy {
  readonly allowHttp: boolean;
  /** Lets through this machine's own addresses, at any port. */
  readonly allowLoopback: boolean;
  /** The ports of https (and of http where allowed) that may be dialled. */
  readonly ports: readonly number[];
}

/** A request that was never sent because of where it would have gone. `code` is a stable word. */
export class EgressDeniedError extends Error {
  override name = 'EgressDeniedError';
  readonly loggable = true;
  readonly code: string;
  constructor(code: string) {
    super(`refused to send: ${code}`);
    this.code = code;
  }
}

// Names that only mean something inside a cluster, a company or a house.
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

/** Where an event is posted: the destination's URL with the event's relative address appended. */
export function buildEventUrl(destination: string, address: string): URL {
  const url = URL.parse(destination);
  if (url === null) throw new EgressDeniedError('url_malformed');
  url.pathname = url.pathname.replace(/\/+$/, '') + address;
  return url;
}

/** Throws EgressDeniedError unless the URL is one that a webhook may be posted to. */
export function checkEgressUrl(url: URL, policy: EgressPolicy): void {
  const host = bareHost(url);
  const atHome = policy.allowLoopback && (host === 'localhost' || isLoopbackAddress(host));
  if (url.protocol !== 'https:' && !(policy.allowHttp && url.protocol === 'http:')) {
    throw new EgressDeniedError('scheme_not_allowed');
  }
  if (url.username !== '' || url.password !== '') throw new EgressDeniedError('credentials_in_url');
  if (atHome) return;
  if (!policy.ports.includes(portOf(url))) throw new EgressDeniedError('port_not_allowed');
  // Node asks no lookup about IP literals, so they are judged here. The URL parser has already
  // turned spellings such as 0x7f.1 into dotted form.
  if (isIP(host) !== 0) {
    if (!isPublicAddress(host)) throw new EgressDeniedError('address_not_public');
    return;
  }
  if (isInternalName(host)) throw new EgressDeniedError('host_not_public');
}

/** The host as dialled and looked up: IPv6 without brackets, names without the root's dot. */
function bareHost(url: URL): string {
  const host = url.hostname;
  if (host.startsWith('[')) return host.slice(1, -1);
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function isInternalName(host: string): boolean {
  return !host.includes('.') || INTERNAL_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));
}
