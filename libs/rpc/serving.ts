/** A service as a process of its own: what it listens on and whom it believes. */
import type { EnvReader } from '@creditlane/runtime/env';
import { startOpsServer } from '@creditlane/runtime/ops-server';
import type { Process } from '@creditlane/runtime/run';
import { startGrpcServer } from './grpc-server.ts';
import { startHttpServer } from './http-server.ts';
import { parseTrust, TokenVerifier } from './identity.ts';
import type { Trust } from './identity-keys.ts';
import type { ServiceRoutes } from './service.ts';

/** A port of 0 takes any free one. */
export interface Serving {
  /** For other services. */
  grpcPort: number;
  /** For people: Connect over HTTP/1.1. */
  httpPort: number;
  /** For probes and metrics. */
  opsPort: number;
  /** The public keys of those whose tokens are believed. */
  trust: Trust;
}

/** Reads `GRPC_PORT`, `HTTP_PORT`, `OPS_PORT` and `IDENTITY_TRUST`. */
export function readServing(read: EnvReader): Serving {
  const port = (name: string, fallback: number) =>
    read.integer(name, { default: fallback, min: 0, max: 65_535 });
  return {
    grpcPort: port('GRPC_PORT', 9000),
    httpPort: port('HTTP_PORT', 8080),
    opsPort: port('OPS_PORT', 9090),
    trust: read.parsed('IDENTITY_TRUST', parseTrust),
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
  { grpcPort, httpPort, opsPort, trust }: Serving,
  process: Process,
  start: () => Promise<{ routes: ServiceRoutes[] }>,
): Promise<void> {
  const { closers, log, metrics } = process;
  const ops = await startOpsServer({ port: opsPort, ...process });
  closers.add('ops server', ops.close);

  const { routes } = await start();
  const verifier = new TokenVerifier({ audience, trusted: trust });
  const around = { routes, verifier, log, metrics };
  const grpc = await startGrpcServer({ port: grpcPort, ...around });
  closers.add('gRPC server', grpc.close);
  const http = await startHttpServer({ port: httpPort, ...around });
  closers.add('HTTP server', http.close);
  log.info({ grpcPort: grpc.port, http: http.url, ops: ops.url }, 'serving');
}
