/** For the tests: the client side of Connect over HTTP/1.1, which no service uses. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createConnectTransport } from '@connectrpc/connect-node';
import type { Certificates } from '../credentials/certificates.ts';
import type { UnaryCall } from '../transport.ts';

/** Makes calls to `baseUrl` ("http://host:port", with certificates "https://…") and reuses its connections. */
export function openHttpTransport(
  baseUrl: string,
  certificates?: Certificates,
): { unary: UnaryCall; close(): void } {
  const options = { keepAlive: true };
  const agent = certificates
    ? new HttpsAgent({ ...options, ...certificates.current })
    : new HttpAgent(options);
  const { unary } = createConnectTransport({
    ...{ baseUrl, httpVersion: '1.1', nodeOptions: { agent } },
    ...{ useBinaryFormat: true, acceptCompression: [] },
  });
  return { unary, close: () => agent.destroy() };
}
