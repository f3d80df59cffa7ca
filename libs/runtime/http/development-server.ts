/**
 * HTTP servers for development: without credentials, for programs and browsers of one machine, with limits.
 * Requests by other names than those of `host` and of loopback, and from pages of other sites, are refused.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Address, listen } from '../listen.ts';
import type { Log } from '../telemetry/log.ts';
import { closeHttpServer } from './close-http-server.ts';
import { createLimitedServer, type Timeouts } from './limited-server.ts';
import { findRefusal, hostsOf } from './request-origin.ts';

export interface DevelopmentServerOptions extends Address {
  /** Who answers, for the log. */
  name: string;
  log: Log;
  timeouts?: Timeouts | undefined;
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
}

export interface DevelopmentServer {
  url: string;
  /** Cuts every connection. */
  close: () => Promise<void>;
}

/** Longer than clients keep idle connections, so that the server never closes one that gets a request. */
const KEEP_ALIVE_MS = 75_000;
/** Browsers and clients of one machine. The one idle longest makes room for a new one. */
const MAX_CONNECTIONS = 1_024;

/** Of every answer; a handler may replace them. */
const SECURITY_HEADERS = new Map([
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['cache-control', 'no-store'],
]);

/** Starts the server. Rejects with the system's error when it cannot listen on the port. */
export async function startDevelopmentServer(
  options: DevelopmentServerOptions,
): Promise<DevelopmentServer> {
  const { name, host, log, timeouts, handle } = options;
  let hosts: ReadonlySet<string> = new Set();
  // A request without Host is refused below, with the headers of every answer.
  const server = createLimitedServer(
    { timeouts, maxConnections: MAX_CONNECTIONS },
    { requireHostHeader: false, keepAliveTimeout: KEEP_ALIVE_MS },
  );
  server.on('request', async (request, response) => {
    response.setHeaders(SECURITY_HEADERS);
    try {
      const refusal = findRefusal(request, hosts);
      if (refusal !== undefined) {
        // Its body is not read.
        response.setHeader('connection', 'close');
        return answerError(response, refusal.status, refusal.message);
      }
      await handle(request, response);
    } catch (err) {
      // The client closed the connection while its body was read: there is no one to answer.
      if (request.destroyed && !request.complete) return;
      log.error({ err }, `${name} failed to answer`);
      if (response.headersSent) response.destroy();
      else answerError(response, 500, `${name} failed`);
    }
  });

  const { port, authority } = await listen(server, options);
  hosts = hostsOf(host, port);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeHttpServer(server, 0));
  return { url: `http://${authority}`, close };
}

/** The body of a request as UTF-8 text; undefined when it is larger than the limit: the rest is read and dropped. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return bytes > maxBytes ? undefined : Buffer.concat(chunks).toString('utf8');
}

/** Answers with JSON, indented for people. */
export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(value, null, 2)}\n`);
}

/** Answers with an error and its reason. */
export function answerError(response: ServerResponse, status: number, message: string): void {
  answerJson(response, status, { status, message });
}
