// An HTTP proxy in front of the platform that loses requests and answers.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/**
 * `lose-request`: the platform never sees the request. `lose-answer`: it does, and its answer is lost.
 * `cut-answer`: the connection breaks within the answer. `unavailable`: a proxy's page of HTML with 503.
 */
export type Fault = 'none' | 'lose-request' | 'lose-answer' | 'cut-answer' | 'unavailable';

export interface ProxiedRequest {
  method: string;
  path: string;
  idempotencyKey: string | undefined;
}

export interface FaultyProxy {
  /** Replaces the base URL of the platform. */
  baseUrl: string;
  /** Every request, also those that were lost. */
  requests: ProxiedRequest[];
}

/** Starts a proxy that asks `chooseFault` about each request and closes when the test ends. */
export async function startFaultyProxy(
  targetBaseUrl: string,
  chooseFault: (request: ProxiedRequest) => Fault,
): Promise<FaultyProxy> {
  const requests: ProxiedRequest[] = [];
  const { origin, pathname } = new URL(targetBaseUrl);
  const server = createServer(async (incoming, response) => {
    const { method = '', url: path = '', headers } = incoming;
    const body = await buffer(incoming);
    const proxied = { method, path, idempotencyKey: headers['idempotency-key']?.toString() };
    requests.push(proxied);
    const fault = chooseFault(proxied);
    if (fault === 'lose-request') return response.socket?.resetAndDestroy();
    if (fault === 'unavailable') {
      return response.writeHead(503, { 'content-type': 'text/html' }).end('<p>Busy</p>');
    }
    const { host: _, connection: __, 'content-length': ___, ...forwarded } = headers;
    const answer = await fetch(origin + path, {
      method,
      headers: forwarded as Record<string, string>,
      ...(method === 'POST' && { body: new Uint8Array(body) }),
    });
    pass(response, answer, Buffer.from(await answer.arrayBuffer()), fault);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}${pathname}`, requests };
}

function pass(response: ServerResponse, answer: Response, body: Buffer, fault: Fault): void {
  if (fault === 'lose-answer') return void response.socket?.resetAndDestroy();
  const headers = [...answer.headers].filter(
    ([name]) => !/^(connection|keep-alive|transfer-encoding|content-(length|encoding))$/.test(name),
  );
  response.writeHead(answer.status, [...headers.flat(), 'content-length', String(body.length)]);
  if (fault === 'none') response.end(body);
  else response.write(body.subarray(0, 1), () => response.socket?.resetAndDestroy());
}
