/** Where a service is reached, and the transport that goes there. */
import type { Transport } from '@connectrpc/connect';
import { openGrpcTransport } from './grpc-transport.ts';
import { openHttpTransport } from './http-transport.ts';
import { retrying } from './retries.ts';

/** `address` is "host:port"; `baseUrl` is "http://host:port". */
export type Target =
  | { kind: 'memory'; transport: Transport }
  | { kind: 'grpc'; address: string }
  | { kind: 'http'; baseUrl: string };

export type OpenTransport = { transport: Transport; close(): void };

/** The transport to a target; it connects at the first call. */
export function openTransport(target: Target): OpenTransport {
  switch (target.kind) {
    case 'memory':
      return { transport: target.transport, close: () => {} };
    case 'grpc':
      return retried(openGrpcTransport(target.address));
    case 'http':
      return retried(openHttpTransport(target.baseUrl));
  }
}

function retried({ transport, close }: OpenTransport): OpenTransport {
  return { transport: retrying(transport), close };
}
