/** Refuses what Node cannot parse as a request, after the answers to the requests before it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { newId } from '@creditlane/runtime/ids';
import { JSON_UTF8_TYPE } from '../http/media-types.ts';

/** By the code of Node's error; any other error is a malformed request. */
const REFUSALS: Record<string, [status: string, code: string, message: string]> = {
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
/** Node's error when the client has ended the connection within a request. */
const CLIENT_HAS_ENDED = 'HPE_INVALID_EOF_STATE';

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

export class UnparsedBytes {
  readonly #onRefusal: (code: string) => void;
  /** The requests of each connection that are not answered yet, in their order. Only the last may be incomplete. */
  readonly #unanswered = new WeakMap<Socket, Exchange[]>();
  readonly #refused = new WeakSet<Socket>();

  /** `onRefusal` is called with the code of each refusal. */
  constructor(onRefusal: (code: string) => void) {
    this.#onRefusal = onRefusal;
  }

  /** Keeps a request until its answer is sent. */
  add(exchange: Exchange): void {
    const { socket } = exchange.req;
    const unanswered = this.#unanswered.get(socket) ?? [];
    this.#unanswered.set(socket, unanswered);
    unanswered.push(exchange);
    exchange.res.once('close', () => unanswered.splice(unanswered.indexOf(exchange), 1));
  }

  /** Whether refused bytes are in the body of the request, or came before the request: then nothing may handle it. */
  isRefused({ socket, complete }: IncomingMessage): boolean {
    return !complete && this.#refused.has(socket);
  }

  /**
   * Refuses the bytes of a connection that Node cannot parse, or that did not come in time: those of the incomplete
   * request, or of the one after the last. A client takes answers in the order of its requests, so this one follows
   * those to all complete requests. Node emits the error again for each further piece of bytes; only the first counts.
   */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    const [line, code, message] = REFUSALS[error.code ?? ''] ?? MALFORMED;
    this.#onRefusal(code);
    // A client that ends its side of the connection gets no answer that is still under way. After a whole request Node does
    // the same.
    if (error.code === CLIENT_HAS_ENDED && this.#lastComplete(socket) !== undefined) socket.end();
    else this.#answerInTurn(socket, textOf(line, code, message));
  }

  #answerInTurn(socket: Socket, text: string): void {
    const earlier = this.#lastComplete(socket);
    if (earlier !== undefined) {
      earlier.res.once('close', () => this.#answerInTurn(socket, text));
    } else if (this.#unanswered.get(socket)?.some(({ res }) => res.headersSent)) {
      // The request is answered already, before its body came.
      socket.end();
    } else if (socket.writable) {
      socket.end(text);
    }
  }

  #lastComplete(socket: Socket): Exchange | undefined {
    return this.#unanswered.get(socket)?.findLast(({ req }) => req.complete);
  }
}

function textOf(line: string, code: string, message: string): string {
  const requestId = newId();
  const body = JSON.stringify({ status: Number(line.slice(0, 3)), message, code, requestId });
  const head = [
    `HTTP/1.1 ${line}`,
    `Content-Type: ${JSON_UTF8_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
