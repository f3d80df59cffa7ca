/** A receiver of webhooks with a certificate, as an integration has it. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { IssuedFiles } from '@creditlane/runtime/test-certificate-authority';

export interface TlsReceiver {
  url: string;
  /** Every webhook received, oldest first. */
  received: { path: string; headers: NodeJS.Dict<string | string[]>; body: Buffer }[];
  close(): Promise<void>;
}

export async function startTlsReceiver(
  host: string,
  port: number,
  files: IssuedFiles,
): Promise<TlsReceiver> {
  const [cert, key] = await Promise.all([files.cert, files.key].map((file) => readFile(file)));
  const received: TlsReceiver['received'] = [];
  const server = createServer({ cert, key }, async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    received.push({ path: request.url ?? '', headers: request.headers, body });
    response.writeHead(204).end();
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `https://${host}:${port}`,
    received,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
