/** For the tests: the client side of Connect over HTTP/1.1, which no service uses. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import type { Certificates } from '../credentials/certificates.ts';

/** A transport to `baseUrl` ("http://host:port", with certificates "https://…") that reuses its connections. */
export function openHttpTransport(
  baseUrl: string,
  certificates?: Certificates,
): { transport: Transport; close(): void } {
  const options = { keepAlive: true };
  const agent = certificates
    ? new HttpsAgent({ ...options, ...certificates.current })
    : new HttpAgent(options);
  const transport = createConnectTransport({
    ...{ baseUrl, httpVersion: '1.1', nodeOptions: { agent } },
    ...{ useBinaryFormat: true, acceptCompression: [] },
  });
  return { transport, close: () => agent.destroy() };
}
