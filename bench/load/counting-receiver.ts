/** A webhook receiver that counts requests, and whose answer can be changed. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scale } from '../scale-subject.ts';

export interface CountingReceiver {
  readonly url: string;
  /** How many requests have come. */
  readonly requests: number;
  /** Answers with this status from now on; undefined for no answer. */
  answerWith(status: number | undefined): void;
}

/** Answers each request with 204 at first; closed with the measurement. */
export async function startCountingReceiver({ closers }: Scale): Promise<CountingReceiver> {
  let status: number | undefined = 204;
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    if (status !== undefined) response.writeHead(status).end();
  });
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.add('counting receiver', async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answerWith(next) {
      status = next;
    },
    get requests() {
      return requests;
    },
  };
}
