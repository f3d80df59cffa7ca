// Which requests a server for development takes: those to its own address, from programs and its own page.
import type { IncomingMessage } from 'node:http';

export interface Refusal {
  status: 403 | 421;
  message: string;
}

/**
 * Finds out why a request is refused; undefined when the server takes it.
 *
 * A browser lets a page of any site send requests to this machine. Where the site's own name resolves to
 * this machine (DNS rebinding), the page reads the answers, too; `Host` is then the site's name. Programs
 * send neither `Origin` nor `Sec-Fetch-Site`.
 *
 * @param hosts the accepted values of `Host`, in lower case
 */
export function findRefusal(
  { headersDistinct: headers }: IncomingMessage,
  hosts: ReadonlySet<string>,
): Refusal | undefined {
  const [host = '', ...otherHosts] = headers.host ?? [];
  if (otherHosts.length > 0 || !hosts.has(host.toLowerCase())) {
    return { status: 421, message: `this server is called as ${[...hosts].join(' or ')}` };
  }
  const isForeign =
    headers.origin?.some((origin) => origin.toLowerCase() !== `http://${host.toLowerCase()}`) ||
    // `none` is a person who enters the address.
    headers['sec-fetch-site']?.some((site) => site !== 'same-origin' && site !== 'none');
  if (!isForeign) return undefined;
  return { status: 403, message: 'this server takes no requests from pages of other sites' };
}

/** The values of `Host` for a server on an address of this machine. */
export function hostsOf(address: string, port: number): ReadonlySet<string> {
  const names = [address, 'localhost', '127.0.0.1', '[::1]'];
  // Browsers leave the default port out.
  return new Set(names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]));
}
