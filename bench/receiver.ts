/** A webhook receiver that answers at once, and knows which decision each webhook tells of. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Receiver {
  url: string;
  /** Resolves to when the first byte came of the webhook that holds the mark, by performance.now(). */
  arrival(mark: string): Promise<number>;
  /** Resolves when so many more webhooks have come, whatever they tell. */
  next(count: number): Promise<void>;
  close(): void;
}

/** A mark is what stands in the decision's conditions up to the first space. */
const MARK = '"conditions":"';

export async function startReceiver(): Promise<Receiver> {
  const awaited = new Map<string, (atMs: number) => void>();
  let countdown: { left: number; done: () => void } | undefined;
  const server = createServer((req, res) => {
    const arrivedMs = performance.now();
    let body = '';
    req.setEncoding('latin1');
    req.on('data', (text: string) => {
      body += text;
    });
    req.on('end', () => {
      res.writeHead(204).end();
      const at = body.indexOf(MARK) + MARK.length;
      const mark = body.slice(at, body.indexOf(' ', at));
      awaited.get(mark)?.(arrivedMs);
      awaited.delete(mark);
      if (countdown !== undefined) {
        countdown.left -= 1;
        if (countdown.left === 0) countdown.done();
      }
    });
  });
  // The dispatcher keeps its connections; the receiver must not be the one to end them.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    arrival: (mark) => new Promise((resolve) => awaited.set(mark, resolve)),
    next: (left) =>
      new Promise((done) => {
        countdown = { left, done };
      }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
