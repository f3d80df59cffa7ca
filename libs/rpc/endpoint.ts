/** Where a service is reached, and the transport that goes there. */
import type { Transport } from '@connectrpc/connect';
import type { Certificates } from './credentials/certificates.ts';
import { openGrpcTransport } from './grpc/transport.ts';
import { openHttpTransport } from './http/transport.ts';
import { type RetryObserver, retrying } from './retries/retries.ts';

/**
 * `address` is "host:port", or several as `openGrpcTransport` takes them; `baseUrl` is
 * "http://host:port". With certificates the peer must show one of the same authority, and
 * `baseUrl` begins with "https:".
 */
export type Endpoint =
  | { kind: 'memory'; transport: Transport }
  | { kind: 'grpc'; address: string; certificates?: Certificates | undefined }
  | { kind: 'http'; baseUrl: string; certificates?: Certificates | undefined };

export type OpenedTransport = {
  transport: Transport;
  close(): void;
  /** Whether the peer is connected, which asking sees to; always true where there is no connection. */
  reachable(): boolean;
};

/** The transport to a target; it connects at the first call. */
export function openTransport(target: Endpoint, observe?: RetryObserver): OpenedTransport {
  switch (target.kind) {
    case 'memory':
      return { transport: target.transport, close: () => {}, reachable: () => true };
    case 'grpc':
      return retried(openGrpcTransport(target.address, target.certificates), observe);
    case 'http':
      return retried(openHttpTransport(target.baseUrl, target.certificates), observe);
  }
}

function retried(opened: OpenedTransport, observe: RetryObserver | undefined): OpenedTransport {
  return { ...opened, transport: retrying(opened.transport, undefined, observe) };
}
