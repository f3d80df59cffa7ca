/** How a service is reached, and the transport for it. */
import type { Certificates } from './credentials/certificates.ts';
import { openGrpcTransport } from './grpc/transport.ts';
import { type RetryObserver, retrying } from './retries/retries.ts';
import type { OpenedTransport, UnaryCall } from './transport.ts';

/**
 * How a service is reached. `address` is "host:port", or several addresses in the form that
 * `openGrpcTransport` takes. With certificates, the peer must present one of the same authority.
 */
export type Endpoint =
  | { kind: 'memory'; unary: UnaryCall }
  | { kind: 'grpc'; address: string; certificates?: Certificates | undefined };

/**
 * A transport to the endpoint, which connects at the first call. Over a network, failed calls are
 * retried (see `retrying`), and `observe` is called for each retry.
 */
export function openTransport(endpoint: Endpoint, observe?: RetryObserver): OpenedTransport {
  if (endpoint.kind === 'memory') {
    return { unary: endpoint.unary, close: () => {}, reachable: () => true };
  }
  const opened = openGrpcTransport(endpoint.address, endpoint.certificates);
  return { ...opened, unary: retrying(opened.unary, { observe }) };
}
