/** The port of a gRPC server: how it begins to listen and how it ends. */
import { isIPv6 } from 'node:net';
import { experimental, type Server, ServerCredentials } from '@grpc/grpc-js';
import type { Certificates } from '../credentials/certificates.ts';
import type { ServerOptions } from '../server-options.ts';

/** Gives the port; rejects when it cannot be had. */
export function listen(
  server: Server,
  { host, port, certificates }: Pick<ServerOptions, 'port' | 'certificates'> & { host: string },
): Promise<number> {
  // An IPv6 address has colons of its own.
  const address = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentialsOf(certificates), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
}

/** Ends idle sessions at once and the others after their calls, or after the grace. */
export function closeGracefully(server: Server, gracePeriodMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const cutOff = setTimeout(() => server.forceShutdown(), gracePeriodMs);
    server.tryShutdown((error) => {
      clearTimeout(cutOff);
      if (error === undefined) resolve();
      else reject(error);
    });
  });
}

function credentialsOf(certificates: Certificates | undefined): ServerCredentials {
  if (certificates === undefined) return ServerCredentials.createInsecure();
  const { createCertificateProviderServerCredentials } = experimental;
  return createCertificateProviderServerCredentials(certificates, certificates, true);
}
