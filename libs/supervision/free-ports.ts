import { createServer } from 'node:net';

/** A port that was asked for cannot be listened on; the message says which and why. */
export class PortUnavailableError extends Error {
  override readonly name = 'PortUnavailableError';
  readonly loggable = true;
}

/** The ports of the API, of health and metrics, of the inbox, and what services need beyond them. */
export interface Ports {
  api: number;
  ops: number;
  inbox: number;
  services: number[];
}

/**
 * Where ports are looked for when any will do: below those that systems give to outgoing connections
 * (from 32768 or 49152), one of which might take a port between its choice and its use.
 */
const ANY = { first: 12_000, count: 20_000 };
const MAX_TRIES = 1_000;

/** Processes begin far from each other, and none tries a port twice. */
let tried = process.pid * 37;

/**
 * Chooses the ports that begin at `first`, or any free ones for 0, and makes sure that they can be had
 * before anything else is touched: three, and `more` for services. Throws `PortUnavailableError` naming the
 * port in use.
 */
export async function choosePorts(first: number, host: string, more = 0): Promise<Ports> {
  const held: Held[] = [];
  try {
    for (let at = 0; at < 3 + more; at += 1) {
      held.push(first === 0 ? await holdAny(host) : await hold(first + at, host));
    }
    const [api = 0, ops = 0, inbox = 0, ...services] = held.map(({ port }) => port);
    return { api, ops, inbox, services };
  } finally {
    await Promise.all(held.map(({ release }) => release()));
  }
}

interface Held {
  port: number;
  release: () => Promise<void>;
}

async function holdAny(host: string): Promise<Held> {
  for (let tries = 1; ; tries += 1) {
    tried += 1;
    try {
      return await hold(ANY.first + (tried % ANY.count), host);
    } catch (error) {
      if (!(error instanceof PortUnavailableError) || tries === MAX_TRIES) throw error;
    }
  }
}

async function hold(port: number, host: string): Promise<Held> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${error.code})`;
      reject(new PortUnavailableError(`Port ${port} ${reason}. Choose another with --port.`));
    });
    server.listen(port, host, resolve);
  });
  return { port, release: () => new Promise((resolve) => server.close(() => resolve())) };
}
