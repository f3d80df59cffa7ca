/** Services mounted for other services: gRPC over HTTP/2. */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { Health as HealthService } from '@creditlane/proto/grpc/health/v1/health';
import type { Health } from '@creditlane/runtime/health';
import { TIMEOUTS } from '@creditlane/runtime/http/limited-server';
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
import { MAX_TIMEOUT_MS } from '../procedure/call-deadline.ts';
import { type AdmittedCall, createProcedures, type Procedure } from '../procedure/procedure.ts';
import {
  DEFAULT_GRACE_PERIOD_MS,
  DEFAULT_MAX_REQUEST_BYTES,
  type ServerOptions,
} from '../server-options.ts';
import { acceptConnections, type Connections } from './connections.ts';
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
  maxConnections?: number;
};

export const DEFAULT_MAX_CONNECTION_AGE_MS = 60_000;
/** A client that answers no ping is cut after both times, whether it has gone or never spoke HTTP/2. */
const KEEPALIVE_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
/** A process of another service has one connection to each address, and a probe one. */
const MAX_CONNECTIONS = 1_024;

/** The reason of every abort: without a reason, Node makes an exception with a stack trace for each. */
const CANCELLED = cancelled();

/** Admitted calls whose body has not arrived, under the metadata object that grpc-js passes on. */
type Admissions = WeakMap<Metadata, AdmittedCall>;

/**
 * Starts a server and resolves when it listens. `close` stops listening, closes idle connections at
 * once, and closes the others after their calls or after the grace period.
 */
export async function startGrpcServer({
  port,
  host,
  routes,
  maxMessageBytes = DEFAULT_MAX_REQUEST_BYTES,
  gracePeriodMs = DEFAULT_GRACE_PERIOD_MS,
  maxConnectionAgeMs = DEFAULT_MAX_CONNECTION_AGE_MS,
  health,
  reflection = false,
  certificates,
  timeouts = TIMEOUTS,
  maxConnections = MAX_CONNECTIONS,
  ...deps
}: GrpcServerOptions): Promise<{ port: number; close(): Promise<void> }> {
  const procedures = new Map(
    createProcedures(routes, deps).map((procedure) => [procedure.path, procedure]),
  );
  const admissions: Admissions = new WeakMap();
  let connections: Connections | undefined;
  const server = new Server({
    // Statistics of each call, stream and message that nothing reads.
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_connection_age_ms': maxConnectionAgeMs,
    // A call under way on a connection that reached its maximum age may use all of its time.
    'grpc.max_connection_age_grace_ms': MAX_TIMEOUT_MS,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    interceptors: [
      admissionInterceptor(procedures, admissions, (peer) => connections?.admit(peer)),
    ],
  });
  for (const procedure of procedures.values()) {
    const { path, method } = procedure;
    server.addService(
      // The procedure decodes the bytes, and only for an admitted caller.
      { [method.name]: rawDefinition(path) },
      { [method.name]: answerHandler(procedure, admissions) },
    );
  }
  const services = routes.map(({ service }) => service);
  const watchers = health && addHealthService(server, health, services);
  if (reflection) addReflectionService(server, health ? [...services, HealthService] : services);
  const injector = server.createConnectionInjector(credentialsOf(certificates));
  const listening = await acceptConnections(
    { host, port, prefaceMs: timeouts.headMs, maxConnections },
    (socket) => injector.injectConnection(socket),
  );
  connections = listening;
  let closing: Promise<void> | undefined;
  return {
    port: listening.port,
    close() {
      watchers?.close();
      closing ??= closeGracefully(server, listening, gracePeriodMs);
      return closing;
    },
  };
}

/** Holds each call at its metadata until the call is admitted, so that the body is not read before. */
function admissionInterceptor(
  procedures: ReadonlyMap<string, Procedure>,
  admissions: Admissions,
  onAdmitted: (peer: string) => void,
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
                if (cancellation.signal.aborted) {
                  // grpc-js passes a cancelled call on to no handler.
                  procedure.fail(admission, CANCELLED);
                  return;
                }
                admitted = admission;
                admissions.set(metadata, admission);
                onAdmitted(call.getPeer());
                proceed(metadata);
              },
              (error: ConnectError) => call.sendStatus(grpcStatusOf(error)),
            );
          },
          onCancel() {
            // grpc-js calls onCancel after every call. A call that was answered has nothing left to cancel.
            if (admitted?.finished) return;
            cancellation.abort(CANCELLED);
            // grpc-js refused the body itself, for its size for example, so `answer` will not run.
            if (admitted !== undefined && !admitted.answering) {
              procedure.fail(admitted, CANCELLED);
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

/** grpc-js closes the sessions when their calls have ended, and the connections end with them. */
async function closeGracefully(
  server: Server,
  connections: Connections,
  gracePeriodMs: number,
): Promise<void> {
  const cutOff = setTimeout(() => connections.cut(), gracePeriodMs);
  const closed = connections.close();
  server.tryShutdown(() => {});
  await closed;
  clearTimeout(cutOff);
}

function credentialsOf(certificates: Certificates | undefined): ServerCredentials {
  if (certificates === undefined) return ServerCredentials.createInsecure();
  const { createCertificateProviderServerCredentials } = experimental;
  return createCertificateProviderServerCredentials(certificates, certificates, true);
}
