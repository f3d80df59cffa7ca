/** Where a service is reached, and the transport that goes there. */
import type { DescService } from '@bufbuild/protobuf';
import type { Transport } from '@connectrpc/connect';
import { openGrpcTransport } from './grpc-transport.ts';
import { openHttpTransport } from './http-transport.ts';

/** `address` is "host:port"; `baseUrl` is "http://host:port". */
export type Target =
  | { kind: 'memory'; transport: Transport }
  | { kind: 'grpc'; address: string }
  | { kind: 'http'; baseUrl: string };

export type OpenTransport = { transport: Transport; close(): void };

/** The transport to a target; it connects at the first call. */
export function openTransport(target: Target, service: DescService): OpenTransport {
  switch (target.kind) {
    case 'memory':
      return { transport: target.transport, close: () => {} };
    case 'grpc':
      return openGrpcTransport(target.address, service);
    case 'http':
      return openHttpTransport(target.baseUrl);
  }
}
