/** A service as a process of its own: what it listens on and whom it believes. */
import type { EnvReader } from '@creditlane/runtime/env';
import { startOpsServer } from '@creditlane/runtime/ops-server';
import type { Process } from '@creditlane/runtime/run';
import { type Certificates, readCertificates } from './credentials/certificates.ts';
import type { TrustedKeys } from './credentials/identity-keys.ts';
import { DEFAULT_MAX_CONNECTION_AGE_MS, startGrpcServer } from './grpc/server.ts';
import { startHttpServer } from './http/server.ts';
import { parseTrustedKeys, TokenVerifier } from './identity.ts';
import { DEFAULT_HOST } from './server-options.ts';
import type { ServiceRoutes } from './service.ts';

/** A port of 0 takes any free one. */
export interface Serving {
  /** The address to listen on. */
  host: string;
  /** For other services. */
  grpcPort: number;
  /** For people: Connect over HTTP/1.1. */
  httpPort: number;
  /** For probes and metrics. */
  opsPort: number;
  /** The public keys of those whose tokens are believed. */
  trust: TrustedKeys;
  /** How long a caller's connection may last before it looks for new replicas. */
  maxConnectionAgeMs: number;
  /** Whether tools such as grpcurl may ask what is served; anybody who reaches the port then may. */
  reflection: boolean;
  /** What it shows to callers and asks of them, over gRPC and HTTP; plain text without. */
  certificates: Certificates | undefined;
}

/**
 * Reads `HOST`, `GRPC_PORT`, `HTTP_PORT`, `OPS_PORT`, `IDENTITY_TRUST`, `GRPC_MAX_CONNECTION_AGE`,
 * `GRPC_REFLECTION`, and the certificates' files (see `readCertificates`).
 */
export function readServing(read: EnvReader): Serving {
  const port = (name: string, fallback: number) =>
    read.integer(name, { default: fallback, min: 0, max: 65_535 });
  return {
    host: read.string('HOST', DEFAULT_HOST),
    grpcPort: port('GRPC_PORT', 9000),
    httpPort: port('HTTP_PORT', 8080),
    opsPort: port('OPS_PORT', 9090),
    trust: read.parsed('IDENTITY_TRUST', parseTrustedKeys),
    maxConnectionAgeMs: read.durationMs('GRPC_MAX_CONNECTION_AGE', {
      default: DEFAULT_MAX_CONNECTION_AGE_MS,
      min: 1_000,
    }),
    reflection: read.boolean('GRPC_REFLECTION', false),
    certificates: readCertificates(read),
  };
}

/**
 * Starts a service and serves its routes until the process ends. Probes are answered from the first
 * moment on: a service that waits for its database is alive and not ready.
 *
 * @param audience the service's name, as the tokens for it say it
 */
export async function serve(
  audience: string,
  serving: Serving,
  process: Process,
  start: () => Promise<{ routes: ServiceRoutes[] }>,
): Promise<void> {
  const { closers, log, metrics, health } = process;
  const { host, certificates, maxConnectionAgeMs, reflection } = serving;
  certificates?.observe(process);
  const ops = await startOpsServer({ port: serving.opsPort, host, ...process });
  closers.add('ops server', ops.close);

  const { routes } = await start();
  const verifier = new TokenVerifier({ audience, trusted: serving.trust });
  const around = { host, certificates, routes, verifier, log, metrics };
  const grpc = await startGrpcServer({
    ...around,
    port: serving.grpcPort,
    maxConnectionAgeMs,
    reflection,
    health,
  });
  closers.add('gRPC server', grpc.close);
  const http = await startHttpServer({ ...around, port: serving.httpPort });
  closers.add('HTTP server', http.close);
  log.info({ grpcPort: grpc.port, http: http.url, ops: ops.url }, 'serving');
}
