/** The gateway's HTTP server: its limits, and how it stops without losing a request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { closeHttpServer } from '@creditlane/runtime/close-http-server';
import { createLimitedServer, type Timeouts } from '@creditlane/runtime/http/limited-server';
import { newId } from '@creditlane/runtime/ids';
import { type Handle, handleInTurn } from './pipelining.ts';

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

export interface ListenerOptions {
  host: string;
  port: number;
  graceMs: number;
  /**
   * How long an idle connection stays open once the gateway closes. A client that sends one request after the
   * other would else send into a connection that is being closed, and cannot know whether that had an effect.
   */
  closeIdleMs?: number;
  timeouts?: Timeouts;
  maxConnections?: number;
  /** Connections without such an answer are closed first when there are too many. */
  isAuthenticated?: (res: ServerResponse) => boolean;
  /** Whether the process is about to close: each answer then ends its connection. */
  isDraining?: () => boolean;
  /** Called with the code of the error for each request that no handler gets, and each connection that is cut. */
  onRefusal?: (code: string) => void;
}

/**
 * Announced in `Keep-Alive`: how long an idle connection is kept at least. Three seconds shorter than the drain of the chart
 * (`shutdown.drainSeconds`): a client that follows it, and whose process does not stand still for that long, sends nothing on
 * a connection that was idle for the whole drain. Longer than the two seconds that undici, the client of Node's fetch, leaves
 * before the announced time: it would else open a connection for each request.
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

/** Requests that Node cannot parse, by its error's code; any other error is a malformed request. */
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
const MALFORMED = [
  '400 Bad Request',
  'malformed_request',
  'the request is not valid HTTP/1.1',
] as const;

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
  const onRequest = handleInTurn(
    (req, res) => {
      beforeHead(res, () => {
        if (closing || isDraining()) res.setHeader('Connection', 'close');
      });
      handle(req, res);
    },
    () => onRefusal('too_many_pipelined'),
  );
  const lastRequests = new WeakMap<Socket, LastRequest>();
  server.on('request', (req, res) => {
    const { socket } = req;
    lastRequests.set(socket, { req, res, before: lastRequests.get(socket)?.res });
    onRequest(req, res);
  });
  // `readJsonBody` answers "Expect: 100-continue", so that no client sends a body that is not read.
  server.on('checkContinue', (req, res) => server.emit('request', req, res));
  // Another expectation is ignored (RFC 9110, section 10.1.1): Node would answer 417 without a body.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('clientError', (error, socket: Socket) => {
    const last = lastRequests.get(socket);
    afterEarlierAnswers(last, () => {
      // The next request may have come meanwhile, later than its time limit.
      if (lastRequests.get(socket) === last) refuseUnparsed(error, socket, last, onRefusal);
    });
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  const hostname = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${hostname}:${address.port}`,
    port: address.port,
    get closing() {
      return closing;
    },
    close() {
      closing = true;
      return closeHttpServer(server, graceMs, closeIdleMs);
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

/** The last request of a connection. Node emits a request when it has parsed the head. */
interface LastRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The answer to the request before it. */
  readonly before: ServerResponse | undefined;
  isRefused?: boolean;
}

/**
 * Calls `refuse` once the requests are answered that came in full before the bytes that Node cannot parse: those belong to
 * the body of the last request, or else to the one after it. A client takes answers in the order of its requests.
 * Node emits the error again for each further piece of the connection's bytes, which counts once.
 */
function afterEarlierAnswers(last: LastRequest | undefined, refuse: () => void): void {
  const earlier = last?.req.complete ? last.res : last?.before;
  if (last === undefined || earlier === undefined || earlier.closed) {
    refuse();
  } else if (!last.isRefused) {
    last.isRefused = true;
    earlier.once('close', refuse);
  }
}

function refuseUnparsed(
  error: NodeJS.ErrnoException,
  socket: Socket,
  last: LastRequest | undefined,
  onRefusal: (code: string) => void,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const isAnswered = last?.req.complete === false && last.res.headersSent;
  if (isAnswered) {
    socket.end();
    return;
  }
  const [line, code, message] = UNPARSED[error.code ?? ''] ?? MALFORMED;
  onRefusal(code);
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
