/** The client side of Connect over HTTP/1.1. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createConnectTransport } from '@connectrpc/connect-node';
import type { Certificates } from '../credentials/certificates.ts';
import { MAX_ANSWER_BYTES } from '../server-options.ts';
import type { OpenedTransport } from '../transport.ts';

const MAX_SOCKETS = 128;

/** A transport to `baseUrl` ("http://host:port") that reuses its connections. */
export function openHttpTransport(baseUrl: string, certificates?: Certificates): OpenedTransport {
  const { agent, close } = openAgent(new URL(baseUrl).protocol === 'https:', certificates);
  const transport = createConnectTransport({
    baseUrl,
    httpVersion: '1.1',
    nodeOptions: { agent },
    useBinaryFormat: true,
    acceptCompression: [],
    readMaxBytes: MAX_ANSWER_BYTES,
  });
  return { transport, close, reachable: () => true };
}

function openAgent(secure: boolean, certificates: Certificates | undefined) {
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS };
  if (!secure) {
    const agent = new HttpAgent(options);
    return { agent, close: () => agent.destroy() };
  }
  const agent = new HttpsAgent({ ...options, ...certificates?.current });
  // The agent uses the new certificates for the connections that it opens from now on.
  const unwatch = certificates?.watch((pem) => Object.assign(agent.options, pem));
  const close = () => {
    unwatch?.();
    agent.destroy();
  };
  return { agent, close };
}
