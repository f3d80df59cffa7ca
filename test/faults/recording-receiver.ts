import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { requireDescribedWebhook } from '@creditlane/gateway/document/test-described-webhooks';
import { Webhook } from 'standardwebhooks';
import { hexSignature } from '../platform/hex-signature.ts';
import type { WebhookRequest } from './history/history.ts';
import { markerOf } from './history/marker.ts';

/** Answers 204, answers 503, or never answers. */
export type ReceiverBehaviour = 'accept' | 'fail' | 'hang';

/**
 * A webhook receiver that records every request. A webhook that the OpenAPI document does not describe fails
 * the test run as an unhandled error.
 */
export interface RecordingReceiver {
  url: string;
  /** All requests so far, in the order of their arrival. */
  webhooks: WebhookRequest[];
  /** Verifies the signatures of all requests, earlier ones included, with this secret. */
  verifyWith(secret: string): void;
  /** `choose` is called for every request from now on. Cuts the connections that hang. */
  setBehaviour(choose: () => ReceiverBehaviour): void;
  close(): Promise<void>;
}

interface SignedRequest {
  headers: Record<string, string>;
  body: string;
}

export interface ReceiverAddress {
  host: string;
  port: number;
}

export async function startRecordingReceiver(
  { host, port: wantedPort }: ReceiverAddress = { host: '127.0.0.1', port: 0 },
): Promise<RecordingReceiver> {
  const webhooks: WebhookRequest[] = [];
  const unverified: { webhook: WebhookRequest; request: SignedRequest }[] = [];
  const hanging = new Set<ServerResponse>();
  let secret: string | undefined;
  let choose: () => ReceiverBehaviour = () => 'accept';

  const server = createServer((request, response) => {
    request.on('error', () => undefined); // A sender that was killed while sending.
    void text(request).then(
      (body) => receive({ headers: readHeaders(request), body }, request.url ?? '', response),
      () => undefined,
    );
  });
  const receive = (request: SignedRequest, path: string, response: ServerResponse) => {
    requireDescribedWebhook({ ...request, path });
    const webhook = parseWebhook(request, path);
    webhooks.push(webhook);
    if (secret === undefined) unverified.push({ webhook, request });
    else webhook.signed = isSigned(request, secret);
    const behaviour = choose();
    if (behaviour === 'hang') {
      hanging.add(response);
      return;
    }
    const status = behaviour === 'accept' ? 204 : 503;
    response.once('finish', () => {
      webhook.answer = status;
    });
    response.writeHead(status).end();
  };
  // The dispatcher keeps its connections open; the receiver must not be the side that closes them.
  server.keepAliveTimeout = 120_000;
  server.listen(wantedPort, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${host}:${port}`,
    webhooks,
    verifyWith(newSecret) {
      secret = newSecret;
      for (const { webhook, request } of unverified.splice(0)) {
        webhook.signed = isSigned(request, newSecret);
      }
    },
    setBehaviour(newChoice) {
      choose = newChoice;
      for (const response of hanging) response.destroy();
      hanging.clear();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function parseWebhook({ headers, body }: SignedRequest, path: string): WebhookRequest {
  const { applicationId, conditions } = JSON.parse(body);
  return {
    atMs: performance.now(),
    submission: applicationId,
    webhookId: headers['webhook-id'] ?? '',
    sequence: Number(headers['webhook-sequence']),
    marker: markerOf(applicationId, conditions),
    path,
    bodyHash: createHash('sha256').update(body).digest('hex'),
    signed: false,
  };
}

/** Whether the Standard Webhooks signature and the plain HMAC signature both verify. */
function isSigned({ headers, body }: SignedRequest, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers);
  } catch {
    return false;
  }
  return headers['x-service-signature'] === hexSignature(secret, body);
}

function readHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
