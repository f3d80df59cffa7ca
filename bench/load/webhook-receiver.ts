/** A webhook receiver that answers at once and reads the marker of each webhook's decision. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WebhookReceiver {
  url: string;
  /** Resolves with the time at which the webhook with this marker arrived, by performance.now(). */
  waitFor(marker: string): Promise<number>;
  /** Webhooks per second, of any decision: of the next `count`. Resolves when the last of them has arrived. */
  measureRate(count: number): Promise<number>;
  close(): void;
}

/** The marker is the part of the decision's conditions before the first space. */
const BEFORE_MARKER = '"conditions":"';

export async function startReceiver(): Promise<WebhookReceiver> {
  const waiting = new Map<string, (atMs: number) => void>();
  let countArrival: () => void = () => {};
  const server = createServer((req, res) => {
    const arrivedMs = performance.now();
    let body = '';
    req.setEncoding('latin1');
    req.on('data', (text: string) => {
      body += text;
    });
    req.on('end', () => {
      res.writeHead(204).end();
      const start = body.indexOf(BEFORE_MARKER) + BEFORE_MARKER.length;
      const marker = body.slice(start, body.indexOf(' ', start));
      waiting.get(marker)?.(arrivedMs);
      waiting.delete(marker);
      countArrival();
    });
  });
  // The dispatcher keeps its connections open; the receiver must not be the side that closes them.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    waitFor: (marker) => new Promise((resolve) => waiting.set(marker, resolve)),
    measureRate: (count) =>
      new Promise((resolve) => {
        let fromMs = 0;
        let arrived = 0;
        countArrival = () => {
          arrived += 1;
          // The first interval starts with the first arrival.
          if (arrived === 1) fromMs = performance.now();
          if (arrived === count) resolve((count - 1) / ((performance.now() - fromMs) / 1_000));
        };
      }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
