// A webhook receiver that answers with the status and body that the test says, and keeps every request. A webhook that the
// OpenAPI document does not describe fails the test run as an unhandled error.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { requireDescribedWebhook } from '@creditlane/gateway/document/test-described-webhooks';
import { HOST } from '@creditlane/local/host';

export interface ReceivedRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface WebhookReceiver {
  url: string;
  received: ReceivedRequest[];
  /** Without a body unless one is given. */
  answerWith(status: number, body?: string): void;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedRequest[] = [];
  let answer: { status: number; body?: string | undefined } = { status: 204 };
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const headers = request.headers as Record<string, string>;
    received.push({ path: request.url ?? '', headers, body });
    response.writeHead(answer.status).end(answer.body);
    requireDescribedWebhook({ path: request.url ?? '', headers, body });
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    received,
    answerWith: (status, body) => {
      answer = { status, body };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
