// A webhook receiver that answers with the status and body that the test says, and keeps every request. A webhook that the
// OpenAPI document does not describe fails the test run as an unhandled error.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { requireDescribedWebhook } from '@creditlane/gateway/document/test-described-webhooks';
import { HOST } from '@creditlane/local/host';
import type { IssuedFiles } from '@creditlane/runtime/test-certificate-authority';

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

export interface ReceiverOptions {
  /** Loopback when left out. */
  host?: string;
  /** A free one when left out. */
  port?: number;
  /** With it the receiver is reached by https. */
  certificate?: Pick<IssuedFiles, 'cert' | 'key'>;
}

export async function startWebhookReceiver({
  host = HOST,
  port = 0,
  certificate,
}: ReceiverOptions = {}): Promise<WebhookReceiver> {
  const received: ReceivedRequest[] = [];
  let answer: { status: number; body?: string | undefined } = { status: 204 };
  const receive: RequestListener = async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const headers = request.headers as Record<string, string>;
    received.push({ path: request.url ?? '', headers, body });
    response.writeHead(answer.status).end(answer.body);
    requireDescribedWebhook({ path: request.url ?? '', headers, body });
  };
  const server = certificate
    ? createTlsServer(
        { cert: await readFile(certificate.cert), key: await readFile(certificate.key) },
        receive,
      )
    : createServer(receive);
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `${certificate ? 'https' : 'http'}://${host}:${(server.address() as AddressInfo).port}`,
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
