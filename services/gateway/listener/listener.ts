/** The gateway's HTTP server: its limits, and how it stops without losing a request. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeHttpServer } from '@creditlane/runtime/close-http-server';
import { createLimitedServer, type Timeouts } from '@creditlane/runtime/http/limited-server';
import { type Address, listenBySeveral } from '@creditlane/runtime/listen';
import { type Handle, handleInTurn } from './pipelining.ts';
import { UnparsedBytes } from './unparsed-bytes.ts';

export interface Listener {
  url: string;
  port: number;
  /** True from the moment `close` is called. */
  readonly closing: boolean;
  /**
   * Accepts no new connection, ends each connection with its next answer, lets requests under way finish
   * within the grace period, and cuts the rest.
   */
  close(): Promise<void>;
}

export interface ListenerOptions extends Address {
  graceMs: number;
  /**
   * How long an idle connection stays open once the gateway closes. Without this time, a client that sends one request after
   * the other would send into a connection that is being closed, and could not know whether that had an effect.
   */
  closeIdleMs?: number;
  timeouts?: Timeouts;
  maxConnections?: number;
  /** Connections without such an answer, which may be still under way, are closed first when there are too many. */
  isAuthenticated?: (res: ServerResponse) => boolean;
  /** Whether the process is about to close: each answer then ends its connection. */
  isDraining?: () => boolean;
  /** Called with the code of the error for each request that no handler gets, and each connection that is cut. */
  onRefusal?: (code: string) => void;
}

/**
 * Announced in `Keep-Alive`: how long an idle connection is kept at least. Three seconds shorter than the drain of the chart
 * (`shutdown.drainSeconds`): a client that follows the announcement, and whose process does not stand still for three seconds,
 * sends nothing on a connection that was idle for the whole drain. Longer than two seconds: undici, the client of Node's fetch,
 * ends an idle connection two seconds before the announced time, and would open one for each request.
 */
export const ANNOUNCED_IDLE_MS = 4_000;
/** An idle connection is closed after 65 s: later than load balancers close theirs, after 60 s as a rule. */
const IDLE_BUFFER_MS = 61_000;
const CLOSE_IDLE_MS = 250;
/**
 * Each connection handles one request at a time and holds about 10 KB while it is idle. A replica behind a
 * load balancer has some hundreds.
 */
const MAX_CONNECTIONS = 4_096;
/** So many connections are accepted in one turn of the event loop. */
const LISTENING_SOCKETS = 8;

/** Listens. Rejects with the system's error when the port is not available. */
export async function startListener(
  {
    host,
    port,
    graceMs,
    closeIdleMs = CLOSE_IDLE_MS,
    timeouts,
    maxConnections = MAX_CONNECTIONS,
    isAuthenticated = () => false,
    isDraining = () => false,
    onRefusal = () => {},
  }: ListenerOptions,
  handle: Handle,
): Promise<Listener> {
  const server = createLimitedServer(
    { timeouts, maxConnections, isAuthenticated, onRefusal },
    {
      keepAliveTimeout: ANNOUNCED_IDLE_MS,
      keepAliveTimeoutBuffer: IDLE_BUFFER_MS,
      // Node would answer without a body; `refuseAmbiguous` answers 400 `malformed_request`.
      requireHostHeader: false,
    },
  );
  let closing = false;
  const unparsed = new UnparsedBytes(onRefusal);
  const onRequest = handleInTurn(
    (req, res) => {
      if (unparsed.isRefused(req)) return;
      beforeHead(res, () => {
        if (closing || isDraining()) res.setHeader('Connection', 'close');
      });
      handle(req, res);
    },
    () => onRefusal('too_many_pipelined'),
  );
  server.on('request', (req, res) => {
    if (unparsed.isRefused(req)) return;
    unparsed.add({ req, res });
    onRequest(req, res);
  });
  // `readJsonBody` answers "Expect: 100-continue", so that no client sends a body that is not read.
  server.on('checkContinue', (req, res) => server.emit('request', req, res));
  // Another expectation is ignored (RFC 9110, section 10.1.1): Node would answer 417 without a body.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('clientError', (error, socket: Socket) => unparsed.refuse(error, socket));

  const { others, ...listening } = await listenBySeveral(server, { host, port }, LISTENING_SOCKETS);
  return {
    url: `http://${listening.authority}`,
    port: listening.port,
    get closing() {
      return closing;
    },
    close() {
      closing = true;
      return closeHttpServer(server, graceMs, closeIdleMs, others);
    },
  };
}

/** Calls `listener` when the head of the answer is about to be written. */
function beforeHead(res: ServerResponse, listener: () => void): void {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => ServerResponse;
  const callBeforeHead = (...args: unknown[]) => {
    listener();
    return writeHead(...args);
  };
  // V8 allocates a function in the old generation when its literal is assigned to a property; there it keeps the request.
  res.writeHead = callBeforeHead;
}
