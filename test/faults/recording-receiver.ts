import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import type { Arrival } from './history/history.ts';
import { markOf } from './history/marker.ts';

export type Behaviour = 'accept' | 'fail' | 'hang';

/** A webhook receiver that writes down all that comes, and behaves as it is told. */
export interface Receiver {
  url: string;
  /** In the order in which they came. */
  arrivals: Arrival[];
  /** By the secret that its owner was shown; what came before is verified by it too. */
  trust(secret: string): void;
  /** From now on; those that hang are dropped when it does anything else. */
  behave(choose: () => Behaviour): void;
  close(): Promise<void>;
}

interface Request {
  headers: Record<string, string>;
  body: string;
}

export async function startReceiver(): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const unverified: { arrival: Arrival; request: Request }[] = [];
  const hanging = new Set<ServerResponse>();
  let secret: string | undefined;
  let choose: () => Behaviour = () => 'accept';

  const server = createServer((request, response) => {
    request.on('error', () => undefined); // A sender that died while it sent has not delivered.
    void text(request).then(
      (body) => receive({ headers: headersOf(request), body }, request.url ?? '', response),
      () => undefined,
    );
  });
  const receive = (request: Request, path: string, response: ServerResponse) => {
    const arrival = arrivalOf(request, path);
    arrivals.push(arrival);
    if (secret === undefined) unverified.push({ arrival, request });
    else arrival.signed = isSigned(request, secret);
    const behaviour = choose();
    if (behaviour === 'hang') {
      hanging.add(response);
      return;
    }
    const answer = behaviour === 'accept' ? 204 : 503;
    response.once('finish', () => {
      arrival.answer = answer;
    });
    response.writeHead(answer).end();
  };
  // The dispatcher keeps its connections; the receiver must not be the one to end them.
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    arrivals,
    trust(given) {
      secret = given;
      for (const { arrival, request } of unverified.splice(0)) {
        arrival.signed = isSigned(request, given);
      }
    },
    behave(how) {
      choose = how;
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

function arrivalOf({ headers, body }: Request, path: string): Arrival {
  const { applicationId, conditions } = JSON.parse(body);
  return {
    atMs: performance.now(),
    submission: applicationId,
    webhookId: headers['webhook-id'] ?? '',
    sequence: Number(headers['webhook-sequence']),
    mark: markOf(applicationId, conditions),
    path,
    bodyHash: createHash('sha256').update(body).digest('hex'),
    signed: false,
  };
}

/** By the public library of Standard Webhooks, and by the bare HMAC. */
function isSigned({ headers, body }: Request, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers);
  } catch {
    return false;
  }
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const bare = createHmac('sha256', key).update(body).digest('hex');
  return headers['x-service-signature'] === bare;
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
