/** Finds TCP ports that a process can listen on. */
import { createServer } from 'node:net';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';

/** A port that was asked for cannot be listened on; the message names the port and the reason. */
export class PortUnavailableError extends LoggableError {}

/**
 * The range that free ports are taken from. It ends below the ports that systems give to outgoing
 * connections (from 32768 or 49152): such a connection could take a port between the moment in which
 * the port is found free and the moment in which its user listens.
 */
const RANGE = { first: 12_000, count: 20_000 };
const MAX_TRIES = 1_000;

/** Processes start at different places of the range, and a process tries no port twice. */
let tried = process.pid * 37;

export interface FreePortsOptions {
  /** The address to listen on; 127.0.0.1 by default. */
  host?: string;
  /** The first of the ports, which then follow one another; 0, the default, means any free ports. */
  first?: number;
}

/**
 * Finds `count` different ports that can be listened on at this moment. All are held open until the
 * last one is found. Throws `PortUnavailableError` when one of the ports from `first` is in use.
 */
export async function findFreePorts(
  count: number,
  { host = '127.0.0.1', first = 0 }: FreePortsOptions = {},
): Promise<number[]> {
  const held: HeldPort[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      held.push(first === 0 ? await holdAny(host) : await hold(first + index, host));
    }
    return held.map(({ port }) => port);
  } finally {
    await Promise.all(held.map(({ release }) => release()));
  }
}

interface HeldPort {
  port: number;
  release: () => Promise<void>;
}

async function holdAny(host: string): Promise<HeldPort> {
  for (let tries = 1; ; tries += 1) {
    tried += 1;
    try {
      return await hold(RANGE.first + (tried % RANGE.count), host);
    } catch (error) {
      if (!(error instanceof PortUnavailableError) || tries === MAX_TRIES) throw error;
    }
  }
}

async function hold(port: number, host: string): Promise<HeldPort> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${error.code})`;
      reject(new PortUnavailableError(`Port ${port} ${reason}.`));
    });
    server.listen(port, host, resolve);
  });
  return { port, release: () => new Promise((resolve) => server.close(() => resolve())) };
}
