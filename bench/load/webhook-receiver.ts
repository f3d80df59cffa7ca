/** A webhook receiver that answers at once, and knows which decision each webhook tells of. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Receiver {
  url: string;
  /** Resolves to when the first byte came of the webhook that holds the mark, by performance.now(). */
  arrival(mark: string): Promise<number>;
  /**
   * How many webhooks come in a second, whatever they tell, of the next `count` without the first
   * `skip`. Resolves when the last one has come.
   */
  rate(count: number, skip: number): Promise<number>;
  close(): void;
}

/** A mark is what stands in the decision's conditions up to the first space. */
const MARK = '"conditions":"';

export async function startReceiver(): Promise<Receiver> {
  const awaited = new Map<string, (atMs: number) => void>();
  let arrived: () => void = () => {};
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
      arrived();
    });
  });
  // The dispatcher keeps its connections; the receiver must not be the one to end them.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    arrival: (mark) => new Promise((resolve) => awaited.set(mark, resolve)),
    rate: (count, skip) =>
      new Promise((resolve) => {
        // The time of the first that counts begins with the one before it.
        const before = Math.max(1, Math.round(skip));
        let fromMs = 0;
        let come = 0;
        arrived = () => {
          come += 1;
          if (come === before) fromMs = performance.now();
          if (come === count) resolve((count - before) / ((performance.now() - fromMs) / 1_000));
        };
      }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
