/** Opens connections for webhooks: to addresses that were looked up, judged and pinned, and no others. */
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { EgressDeniedError } from '@creditlane/egress-rules/destination-url';
import { isLoopbackAddress, isPublicAddress } from '@creditlane/egress-rules/public-address';
import { buildConnector } from 'undici';

/** Gives all addresses of a name. Rejects when there is none. */
export type Resolve = (hostname: string) => Promise<string[]>;

export interface DialOptions {
  readonly allowLoopback: boolean;
  readonly timeoutMs: number;
  readonly resolve: Resolve;
}

/**
 * A connector for undici. It dials only what `guardedLookup` let through, and looks once more at the
 * address that the connection really has before a byte of a request is sent. For https the TLS
 * handshake has been by then, which names the host and tells nothing else.
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
 * A lookup for sockets. One address that is not public condemns the whole name: an answer that mixes
 * public and private addresses is an attack or a mistake, and either way not to be followed.
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
 * Asks the name servers themselves. The system's own lookup would use the few threads that the whole
 * process shares, so that a handful of names that do not answer could hold up everything.
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
