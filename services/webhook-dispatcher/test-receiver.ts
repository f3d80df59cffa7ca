/** A webhook receiver for tests: an HTTP server that keeps its requests and answers as the test says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers a request, or leaves the request without an answer. */
export type Responder = (received: Received, response: ServerResponse) => void;

export const accept: Responder = (_, response) => void response.writeHead(204).end();
export const hang: Responder = () => {};
export const answer =
  (status: number, headers: Record<string, string> = {}): Responder =>
  (_, response) =>
    void response.writeHead(status, headers).end();

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  respondWith(responder: Responder): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let responder = accept;
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const one = {
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    received.push(one);
    responder(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    respondWith: (next) => {
      responder = next;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
