/** For the tests: an HTTP server that answers by a script and records what it is asked. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface RecordedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  receivedAtMs: number;
}

export type ScriptedAnswer = (response: ServerResponse, request: RecordedRequest) => void;

/** The first request gets the first answer, and so on; all further requests get the last answer. */
export async function startScriptedServer(
  ...answers: ScriptedAnswer[]
): Promise<{ baseUrl: string; requests: RecordedRequest[] }> {
  const requests: RecordedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const receivedAtMs = performance.now();
    const recorded = { method, url, headers, body: await text(incoming), receivedAtMs };
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push(recorded);
    answer?.(response, recorded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

export function json(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): ScriptedAnswer {
  return (response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
}

/** The connection is reset instead of an answer. */
export const reset: ScriptedAnswer = (response) => response.socket?.resetAndDestroy();

/** The connection breaks within the answer's body. */
export const cutBody: ScriptedAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"applicationId":', () => response.socket?.resetAndDestroy());
};

/** No answer comes. */
export const hang: ScriptedAnswer = () => {};
