/** Opens connections for webhooks: only to addresses that were resolved and checked just before. */
import { connect } from 'node:net';
import type { SecureContext } from 'node:tls';
import { EgressDeniedError } from '@creditlane/egress-rules/destination-url';
import { guardedLookup, type Resolve } from '@creditlane/egress-rules/guarded-lookup';
import { isLoopbackAddress, isPublicAddress } from '@creditlane/egress-rules/public-address';
import {
  clearTransport,
  type TlsSession,
  type Transport,
  type TransportEvents,
  tlsTransport,
} from './transport.ts';

export interface DialOptions {
  readonly allowLoopback: boolean;
  readonly resolve: Resolve;
  /** The authorities that are trusted, for each new connection; those of Node when it gives null or is left out. */
  readonly authorities?: (() => SecureContext | null) | undefined;
}

/** Opens a connection to the origin of the URL. `session` continues an earlier TLS session. */
export type Dial = (url: URL, events: TransportEvents, session?: TlsSession) => Transport;

/**
 * Connects only to addresses that `guardedLookup` accepted, and checks the peer address of the connection
 * again before a byte is sent, the TLS handshake included.
 */
export function guardedDial(options: DialOptions): Dial {
  const lookup = guardedLookup({
    resolve: options.resolve,
    isAllowed: (address) => mayDial(address, options),
  });
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
    if (!isTls) return clearTransport(tcp, events);
    return tlsTransport(tcp, { hostname, session, context: options.authorities?.() }, events);
  };
}

function mayDial(address: string, { allowLoopback }: { allowLoopback: boolean }): boolean {
  return isPublicAddress(address) || (allowLoopback && isLoopbackAddress(address));
}
