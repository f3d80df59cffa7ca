/** The gateway's socket: its limits, and how it is given up without losing a request. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { newId } from '@creditlane/runtime/ids';

export interface Listener {
  url: string;
  port: number;
  /** True from the moment `close` is called: answers should then ask the client to hang up. */
  readonly closing: boolean;
  close(): Promise<void>;
}

type Handle = (req: IncomingMessage, res: ServerResponse, server: Listener) => void;

/** Longer than load balancers keep an idle connection (60 s as a rule), so that they close first. */
const KEEP_ALIVE_MS = 65_000;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const IDLE_SWEEP_MS = 50;

/** What Node could not even parse, by its error's code; anything else is a malformed request. */
const UNPARSED: Record<string, [status: string, code: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'headers_too_large',
    'the headers are too large',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'request_timeout',
    'the request did not arrive in time',
  ],
};
const MALFORMED = ['400 Bad Request', 'malformed_request', 'the request is not HTTP/1.1'] as const;

/** Listens. Rejects with the system's error when the port cannot be had. */
export async function startListener(
  { host, port, graceMs }: { host: string; port: number; graceMs: number },
  handle: Handle,
): Promise<Listener> {
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
  });
  const state = { closing: false };
  const ours: Listener = {
    url: '',
    port: 0,
    get closing() {
      return state.closing;
    },
    close() {
      state.closing = true;
      return closeGently(server, graceMs);
    },
  };
  const onRequest = (req: IncomingMessage, res: ServerResponse) => handle(req, res, ours);
  server.on('request', onRequest);
  // "Expect: 100-continue" is answered when the body is wanted, not before it is known to be.
  server.on('checkContinue', onRequest);
  server.on('clientError', refuseUnparsed);

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  ours.port = address.port;
  ours.url = `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
  return ours;
}

/** Takes no new connection, lets requests under way finish within `graceMs`, then cuts what is left. */
function closeGently(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // A connection whose answer was begun before closing stays open after it, idle.
    const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close((error) => {
      clearInterval(sweep);
      clearTimeout(cut);
      if (error) reject(error);
      else resolve();
    });
    server.closeIdleConnections();
  });
}

function refuseUnparsed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [line, code, message] = UNPARSED[error.code ?? ''] ?? MALFORMED;
  const requestId = newId();
  const body = JSON.stringify({ status: Number(line.slice(0, 3)), message, code, requestId });
  const head = [
    `HTTP/1.1 ${line}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
