import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** Where a server listens. */
export interface Address {
  host: string;
  /** 0 selects a free port. */
  port: number;
}

export interface Listening {
  port: number;
  /** The host and port by which URLs on this machine name the server. */
  authority: string;
}

/** Has a server listen. Rejects with the system's error when the server cannot listen there. */
export async function listen(
  server: Server,
  { host, port }: Address,
  reusePort = false,
): Promise<Listening> {
  server.listen({ host, port, reusePort });
  await once(server, 'listening');
  const { address, family, port: taken } = server.address() as AddressInfo;
  const isEvery = address === '0.0.0.0' || address === '::';
  const name = isEvery ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return { port: taken, authority: `${name}:${taken}` };
}

/**
 * Has a server listen by several sockets, over which the system spreads new connections. libuv accepts one connection of each
 * socket in a turn of the event loop, and a turn takes some ten milliseconds while hundreds of open connections send requests: new
 * ones waited for up to 3.3 s. `others` are the servers of the further sockets, whose connections `server` gets. Outside of Linux
 * there is one socket.
 */
export async function listenBySeveral(
  server: Server,
  { host, port }: Address,
  sockets: number,
): Promise<Listening & { others: Server[] }> {
  if (process.platform !== 'linux')
    return { ...(await listen(server, { host, port })), others: [] };
  // A port that is shared is shared with other processes of the user, too: this finds it in use.
  const probe = createServer();
  const { port: free } = await listen(probe, { host, port });
  await new Promise((resolve) => probe.close(resolve));
  const listening = await listen(server, { host, port: free }, true);
  const others = Array.from({ length: sockets - 1 }, () =>
    // With the options that Node gives an HTTP server.
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      server.emit('connection', socket),
    ),
  );
  for (const other of others) await listen(other, { host, port: free }, true);
  return { ...listening, others };
}
