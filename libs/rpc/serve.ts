/** Serves a service's methods from a process of its own: its ports, and the issuers whose tokens it accepts. */
import { formatDurationMs } from '@creditlane/runtime/duration';
import type { Process } from '@creditlane/runtime/run';
import { type Setting, setting } from '@creditlane/runtime/setting';
import { CERTIFICATES, type Certificates } from './credentials/certificates.ts';
import { parseTrustedKeys, type TrustedKeys } from './credentials/identity-keys.ts';
import { DEFAULT_MAX_CONNECTION_AGE_MS, startGrpcServer } from './grpc/server.ts';
import { startHttpServer } from './http/server.ts';
import { TokenVerifier } from './identity.ts';
import type { ServiceRoutes } from './service.ts';

/** The address on which every port of a process listens. */
export const HOST = setting.string('HOST', {
  default: '0.0.0.0',
  about: 'The address to listen on.',
});

/** The values of `SERVER_SETTINGS`. A port 0 selects a free port. */
export interface ServerSettings {
  /** The address to listen on. */
  host: string;
  grpcPort: number;
  httpPort: number;
  trust: () => TrustedKeys;
  maxConnectionAgeMs: number;
  reflection: boolean;
  /** For TLS; undefined for plain text. */
  certificates: Certificates | undefined;
}

/** The settings of every service that answers calls. */
export const SERVER_SETTINGS: Setting<ServerSettings> = setting.all({
  host: HOST,
  grpcPort: setting.port('GRPC_PORT', { default: 9000, about: 'The port for other services.' }),
  httpPort: setting.port('HTTP_PORT', {
    default: 8080,
    about: 'The port for people: Connect over HTTP/1.1.',
  }),
  trust: setting.renewed('IDENTITY_TRUST', parseTrustedKeys, {
    type: '`issuer:key`, separated by commas',
    about: 'The public keys of the issuers whose tokens are accepted.',
  }),
  maxConnectionAgeMs: setting.durationMs('GRPC_MAX_CONNECTION_AGE', {
    default: formatDurationMs(DEFAULT_MAX_CONNECTION_AGE_MS),
    min: '1s',
    about: 'How long a connection of a caller lasts before the caller looks for new replicas.',
  }),
  reflection: setting.boolean('GRPC_REFLECTION', {
    default: false,
    about: 'Whether anyone who reaches the port may list the methods, with tools such as grpcurl.',
  }),
  certificates: CERTIFICATES,
});

/**
 * Serves a service's routes until the process ends; resolves to the port of gRPC, and the address of Connect over HTTP/1.1.
 *
 * @param audience the service's name, which is the audience of the tokens for it
 */
export async function serve(
  audience: string,
  settings: ServerSettings,
  routes: ServiceRoutes[],
  { closers, log, metrics, health }: Process,
): Promise<{ grpcPort: number; http: string }> {
  const { host, certificates, maxConnectionAgeMs, reflection } = settings;
  const verifier = new TokenVerifier({ audience, trusted: settings.trust });
  const shared = { host, certificates, routes, verifier, log, metrics };
  const grpc = await startGrpcServer({
    ...shared,
    port: settings.grpcPort,
    maxConnectionAgeMs,
    reflection,
    health,
  });
  closers.add('gRPC server', grpc.close);
  const http = await startHttpServer({ ...shared, port: settings.httpPort });
  closers.add('HTTP server', http.close);
  return { grpcPort: grpc.port, http: http.url };
}
