import { createServer } from 'node:net';
import { StartError } from './start-error.ts';

/** The ports of the API, of health and metrics, of the inbox, and what services need beyond them. */
export interface Ports {
  api: number;
  ops: number;
  inbox: number;
  services: number[];
}

/**
 * Chooses the ports that begin at `first`, or any free ones for 0, and makes sure that they can be had
 * before anything else is touched: three, and `more` for services. Throws `StartError` naming the
 * port in use.
 */
export async function choosePorts(first: number, host: string, more = 0): Promise<Ports> {
  const wanted = Array.from({ length: 3 + more }, (_, at) => (first === 0 ? 0 : first + at));
  const held = [];
  try {
    for (const port of wanted) held.push(await hold(port, host));
    const [api = 0, ops = 0, inbox = 0, ...services] = held.map(({ port }) => port);
    return { api, ops, inbox, services };
  } finally {
    await Promise.all(held.map(({ release }) => release()));
  }
}

async function hold(port: number, host: string) {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${error.code})`;
      reject(new StartError(`Port ${port} ${reason}. Choose another with --port.`));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    release: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
