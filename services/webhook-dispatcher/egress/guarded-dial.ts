/** Opens connections for webhooks: only to addresses that were resolved and checked just before. */
import { Resolver } from 'node:dns/promises';
import { connect, isIP, type LookupFunction } from 'node:net';
import { EgressDeniedError } from '@creditlane/egress-rules/destination-url';
import { isLoopbackAddress, isPublicAddress } from '@creditlane/egress-rules/public-address';
import {
  clearTransport,
  type TlsSession,
  type Transport,
  type TransportEvents,
  tlsTransport,
} from './transport.ts';

/** Resolves to all addresses of a name; rejects, or resolves to none, when the name has none. */
export type Resolve = (hostname: string) => Promise<string[]>;

export interface DialOptions {
  readonly allowLoopback: boolean;
  readonly resolve: Resolve;
}

/** Opens a connection to the origin of the URL. `session` continues an earlier TLS session. */
export type Dial = (url: URL, events: TransportEvents, session?: TlsSession) => Transport;

/**
 * Connects only to addresses that `guardedLookup` accepted, and checks the peer address of the connection
 * again before a byte is sent, the TLS handshake included.
 */
export function guardedDial(options: DialOptions): Dial {
  const lookup = guardedLookup(options);
  return (url, events, session) => {
    const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const isTls = url.protocol === 'https:';
    const port = Number(url.port) || (isTls ? 443 : 80);
    const tcp = connect({ host: hostname, port, lookup, noDelay: true });
    // The first listener: a transport's own listener for this event then finds the socket destroyed.
    tcp.once('connect', () => {
      if (mayDial(tcp.remoteAddress ?? '', options)) return;
      tcp.destroy(new EgressDeniedError('address_not_public'));
    });
    return isTls ? tlsTransport(tcp, { hostname, session }, events) : clearTransport(tcp, events);
  };
}

/**
 * A lookup for sockets. A name with any address that is not public is refused: an answer that mixes
 * public and private addresses is an attack or a mistake.
 */
function guardedLookup({ resolve, ...options }: DialOptions): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (found) => {
        const addresses = found.map((address) => ({ address, family: isIP(address) }));
        const [first] = addresses;
        if (first === undefined) return callback(new EgressDeniedError('name_unknown'), '');
        if (!addresses.every(({ address }) => mayDial(address, options))) {
          return callback(new EgressDeniedError('address_not_public'), '');
        }
        if (all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      () => callback(new EgressDeniedError('name_unknown'), ''),
    );
  };
}

function mayDial(address: string, { allowLoopback }: { allowLoopback: boolean }): boolean {
  return isPublicAddress(address) || (allowLoopback && isLoopbackAddress(address));
}

/**
 * Resolves names by asking the name servers. `dns.lookup` would use libuv's thread pool, which the
 * whole process shares, so that a few names without an answer could block everything.
 */
export function nameServers(): Resolve {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  return async (hostname) => {
    if (hostname === 'localhost') return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}
