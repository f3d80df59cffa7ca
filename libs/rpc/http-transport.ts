/** The client's side of Connect over HTTP/1.1. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createConnectTransport } from '@connectrpc/connect-node';
import { READ_MAX_BYTES } from './mount.ts';
import type { OpenTransport } from './target.ts';

const MAX_SOCKETS = 128;

/** A transport to `baseUrl` ("http://host:port") that keeps its connections for further calls. */
export function openHttpTransport(baseUrl: string): OpenTransport {
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS };
  const secure = new URL(baseUrl).protocol === 'https:';
  const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
  const transport = createConnectTransport({
    baseUrl,
    httpVersion: '1.1',
    nodeOptions: { agent },
    useBinaryFormat: true,
    acceptCompression: [],
    readMaxBytes: READ_MAX_BYTES,
  });
  return { transport, close: () => agent.destroy() };
}
