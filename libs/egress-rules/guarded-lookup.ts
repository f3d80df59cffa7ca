/** Name lookups for outgoing connections: a name is connected to only when all its addresses are allowed. */
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { EgressDeniedError } from './destination-url.ts';

/** Resolves to all addresses of a name; rejects, or resolves to none, when the name has none. */
export type Resolve = (hostname: string) => Promise<string[]>;

export interface LookupRules {
  readonly resolve: Resolve;
  isAllowed(address: string, hostname: string): boolean;
}

/**
 * A lookup for sockets. A name with any address that is not allowed is refused: an answer that mixes
 * public and private addresses is an attack or a mistake.
 */
export function guardedLookup({ resolve, isAllowed }: LookupRules): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (found) => {
        const addresses = found.map((address) => ({ address, family: isIP(address) }));
        const [first] = addresses;
        if (first === undefined) return callback(new EgressDeniedError('name_unknown'), '');
        if (!addresses.every(({ address }) => isAllowed(address, hostname))) {
          return callback(new EgressDeniedError('address_not_public'), '');
        }
        if (all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      () => callback(new EgressDeniedError('name_unknown'), ''),
    );
  };
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
