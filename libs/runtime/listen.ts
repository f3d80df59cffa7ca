import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Where a server listens. */
export interface Address {
  host: string;
  /** 0 selects a free port. */
  port: number;
}

/**
 * Has a server listen. Resolves to its port, and to the host and port by which URLs on this machine name it. Rejects with the
 * system's error when the server cannot listen there.
 */
export async function listen(
  server: Server,
  { host, port }: Address,
): Promise<{ port: number; authority: string }> {
  server.listen(port, host);
  await once(server, 'listening');
  const { address, family, port: taken } = server.address() as AddressInfo;
  const isEvery = address === '0.0.0.0' || address === '::';
  const name = isEvery ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return { port: taken, authority: `${name}:${taken}` };
}
