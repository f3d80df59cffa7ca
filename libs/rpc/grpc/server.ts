/** Services mounted for other services: gRPC over HTTP/2. */
import { isIPv6 } from 'node:net';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { Health as HealthService } from '@creditlane/proto/grpc/health/v1/health';
import type { Health } from '@creditlane/runtime/health';
import {
  experimental,
  Metadata,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { REPLAYED } from '../call.ts';
import type { Certificates } from '../credentials/certificates.ts';
import { cancelled } from '../fault.ts';
import { MAX_TIMEOUT_MS } from '../pipeline/call-deadline.ts';
import { type AdmittedCall, createProcedures, type Procedure } from '../pipeline/pipeline.ts';
import {
  DEFAULT_GRACE_PERIOD_MS,
  DEFAULT_HOST,
  DEFAULT_MAX_REQUEST_BYTES,
  type ServerOptions,
} from '../server-options.ts';
import { bufferOf, rawDefinition } from './definition.ts';
import { addHealthService } from './health-service.ts';
import { addReflectionService } from './reflection-service.ts';
import { grpcStatusOf } from './status.ts';

export type GrpcServerOptions = ServerOptions & {
  /** How long a connection may last. Its client then reconnects, perhaps to another replica. */
  maxConnectionAgeMs?: number;
  /** The health that grpc.health.v1 reports; without it, that service is not served. */
  health?: Health;
  /** Whether grpc.reflection is served. */
  reflection?: boolean;
};

export const DEFAULT_MAX_CONNECTION_AGE_MS = 60_000;
const KEEPALIVE_MS = 30_000;
const KEEPALIVE_TIMEOUT_MS = 10_000;

/** Admitted calls whose body has not arrived, under the metadata object that grpc-js passes on. */
type Admissions = WeakMap<Metadata, AdmittedCall>;

/**
 * Starts a server and resolves when it listens. `close` stops listening, closes idle connections at
 * once, and closes the others after their calls or after the grace period.
 */
export async function startGrpcServer({
  port,
  host = DEFAULT_HOST,
  routes,
  maxMessageBytes = DEFAULT_MAX_REQUEST_BYTES,
  gracePeriodMs = DEFAULT_GRACE_PERIOD_MS,
  maxConnectionAgeMs = DEFAULT_MAX_CONNECTION_AGE_MS,
  health,
  reflection = false,
  certificates,
  ...deps
}: GrpcServerOptions): Promise<{ port: number; close(): Promise<void> }> {
  const procedures = new Map(
    createProcedures(routes, deps).map((procedure) => [procedure.path, procedure]),
  );
  const admissions: Admissions = new WeakMap();
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_connection_age_ms': maxConnectionAgeMs,
    // A call under way on a connection that reached its maximum age may use all of its time.
    'grpc.max_connection_age_grace_ms': MAX_TIMEOUT_MS,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    interceptors: [admissionInterceptor(procedures, admissions)],
  });
  for (const procedure of procedures.values()) {
    const { path, method } = procedure;
    server.addService(
      // The pipeline decodes the bytes, and only for an admitted caller.
      { [method.name]: rawDefinition(path) },
      { [method.name]: answerHandler(procedure, admissions) },
    );
  }
  const services = routes.map(({ service }) => service);
  const watchers = health && addHealthService(server, health, services);
  if (reflection) addReflectionService(server, health ? [...services, HealthService] : services);
  const boundPort = await listen(server, host, port, certificates);
  let closing: Promise<void> | undefined;
  return {
    port: boundPort,
    close() {
      watchers?.close();
      closing ??= closeGracefully(server, gracePeriodMs);
      return closing;
    },
  };
}

/** Holds each call at its metadata until the call is admitted, so that the body is not read before. */
function admissionInterceptor(
  procedures: ReadonlyMap<string, Procedure>,
  admissions: Admissions,
): ServerInterceptor {
  return ({ path }, call) => {
    const procedure = procedures.get(path);
    if (procedure === undefined) return new ServerInterceptingCall(call);
    const cancellation = new AbortController();
    let admitted: AdmittedCall | undefined;
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, proceed) {
            const head = {
              metadata: (name: string) => textOf(metadata, name),
              timeoutMs: remainingMs(call.getDeadline()),
              callerSignal: cancellation.signal,
            };
            procedure.admit(head).then(
              (admission) => {
                admitted = admission;
                admissions.set(metadata, admission);
                proceed(metadata);
              },
              (error: ConnectError) => call.sendStatus(grpcStatusOf(error)),
            );
          },
          onCancel() {
            cancellation.abort();
            // grpc-js refused the body itself, for its size for example, so `answer` will not run.
            if (admitted !== undefined && !admitted.answering) {
              procedure.fail(admitted, cancelled());
            }
          },
        }),
    });
  };
}

function answerHandler(procedure: Procedure, admissions: Admissions) {
  const { input, output } = procedure.method;
  return (call: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>) => {
    const answer = procedure.answer(
      admissions.get(call.metadata),
      () => fromBinary(input, call.request),
      (message) => toBinary(output, message),
    );
    answer.then(
      ({ value, replayed }) => {
        if (replayed) call.sendMetadata(replayedMetadata());
        respond(null, bufferOf(value));
      },
      (error: ConnectError) => respond(grpcStatusOf(error)),
    );
  };
}

function replayedMetadata(): Metadata {
  const metadata = new Metadata();
  metadata.set(REPLAYED, 'true');
  return metadata;
}

function textOf(metadata: Metadata, name: string): string | undefined {
  return metadata.get(name)[0]?.toString();
}

function remainingMs(deadline: Date | number): number | undefined {
  const remaining = Number(deadline) - Date.now();
  return Number.isFinite(remaining) ? remaining : undefined;
}

/** Resolves with the port; rejects with the system's error when the server cannot listen on it. */
function listen(
  server: Server,
  host: string,
  port: number,
  certificates: Certificates | undefined,
): Promise<number> {
  const address = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentialsOf(certificates), (error, boundPort) => {
      if (error === null) resolve(boundPort);
      else reject(error);
    });
  });
}

function closeGracefully(server: Server, gracePeriodMs: number): Promise<void> {
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
