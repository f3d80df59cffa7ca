/** Opens connections for webhooks: only to addresses that were resolved and checked just before. */
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { EgressDeniedError } from '@creditlane/egress-rules/destination-url';
import { isLoopbackAddress, isPublicAddress } from '@creditlane/egress-rules/public-address';
import { buildConnector } from 'undici';

/** Resolves to all addresses of a name; rejects, or resolves to none, when the name has none. */
export type Resolve = (hostname: string) => Promise<string[]>;

export interface DialOptions {
  readonly allowLoopback: boolean;
  readonly timeoutMs: number;
  readonly resolve: Resolve;
}

/**
 * A connector for undici. It connects only to addresses that `guardedLookup` accepted, and checks the
 * peer address of the connection again before a byte of a request is sent. For https the TLS handshake
 * comes before this check; the handshake discloses the host name and nothing else.
 */
export function guardedDial(options: DialOptions): buildConnector.connector {
  const connect = buildConnector({
    lookup: guardedLookup(options),
    timeout: options.timeoutMs,
    // HTTP/2 would let a receiver hold memory for many streams on one connection.
    allowH2: false,
  });
  return (target, callback) => {
    connect(target, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      if (mayDial(socket.remoteAddress ?? '', options)) return callback(null, socket);
      socket.destroy();
      callback(new EgressDeniedError('address_not_public'), null);
    });
  };
}

/**
 * A lookup for sockets. A name with any address that is not public is refused: an answer that mixes
 * public and private addresses is an attack or a mistake.
 */
function guardedLookup({ resolve, ...options }: Omit<DialOptions, 'timeoutMs'>): LookupFunction {
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
