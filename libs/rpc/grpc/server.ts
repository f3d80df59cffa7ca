/** Services mounted for other services: gRPC over HTTP/2, its definitions read off the descriptors. */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { Health as HealthService } from '@creditlane/proto/grpc/health/v1/health';
import type { Health } from '@creditlane/runtime/health';
import {
  Metadata,
  Server,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { REPLAYED } from '../call.ts';
import { cancelled } from '../fault.ts';
import { MAX_TIMEOUT_MS } from '../pipeline/call-deadline.ts';
import { type AdmittedCall, type Procedure, proceduresOf } from '../pipeline/pipeline.ts';
import {
  DEFAULT_GRACE_PERIOD_MS,
  DEFAULT_HOST,
  DEFAULT_MAX_MESSAGE_BYTES,
  type ServerOptions,
} from '../server-options.ts';
import { bufferOf, bytesAt } from './definition.ts';
import { addHealthService } from './health-service.ts';
import { closeGracefully, listen } from './port.ts';
import { addReflectionService } from './reflection-service.ts';
import { grpcStatusOf } from './status.ts';

export type GrpcServerOptions = ServerOptions & {
  /** How long a connection may last; its client then connects again, perhaps to a new replica. */
  maxConnectionAgeMs?: number;
  /** What grpc.health.v1 tells; without it, that is not served. */
  health?: Health;
  /** Whether tools may ask what is served. */
  reflection?: boolean;
};

export const DEFAULT_MAX_CONNECTION_AGE_MS = 60_000;
const KEEPALIVE_MS = 30_000;
const KEEPALIVE_TIMEOUT_MS = 10_000;

/** Between the start of a call and its body, the caller's admission waits under its metadata. */
type Admissions = WeakMap<Metadata, AdmittedCall>;

/**
 * Listens; resolves when it does. `close` stops listening, ends idle sessions at once and the
 * others after their calls, or after the grace.
 */
export async function startGrpcServer({
  port,
  host = DEFAULT_HOST,
  routes,
  readMaxBytes = DEFAULT_MAX_MESSAGE_BYTES,
  gracePeriodMs = DEFAULT_GRACE_PERIOD_MS,
  maxConnectionAgeMs = DEFAULT_MAX_CONNECTION_AGE_MS,
  health,
  reflection = false,
  certificates,
  ...around
}: GrpcServerOptions): Promise<{ port: number; close(): Promise<void> }> {
  const procedures = new Map(
    proceduresOf(routes, around).map((procedure) => [procedure.path, procedure]),
  );
  const admissions: Admissions = new WeakMap();
  const server = new Server({
    'grpc.max_receive_message_length': readMaxBytes,
    'grpc.max_connection_age_ms': maxConnectionAgeMs,
    // There is no hurry: a call under way on an old connection may take all its time.
    'grpc.max_connection_age_grace_ms': MAX_TIMEOUT_MS,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    interceptors: [admitting(procedures, admissions)],
  });
  for (const procedure of procedures.values()) {
    const { path, method } = procedure;
    server.addService(
      // Bytes in, bytes out: the pipeline decodes, and only for a caller it has admitted.
      { [method.name]: bytesAt(path) },
      { [method.name]: answering(procedure, admissions) },
    );
  }
  const services = routes.map(({ service }) => service);
  const watched = health && addHealthService(server, health, services);
  if (reflection) addReflectionService(server, health ? [...services, HealthService] : services);
  const bound = await listen(server, { host, port, certificates });
  let closing: Promise<void> | undefined;
  return {
    port: bound,
    close() {
      watched?.close();
      closing ??= closeGracefully(server, gracePeriodMs);
      return closing;
    },
  };
}

/** Holds each call at its metadata until its caller is admitted; the body is not read before. */
function admitting(
  procedures: ReadonlyMap<string, Procedure>,
  admissions: Admissions,
): ServerInterceptor {
  return ({ path }, call) => {
    const procedure = procedures.get(path);
    if (procedure === undefined) return new ServerInterceptingCall(call);
    const giveUp = new AbortController();
    let admitted: AdmittedCall | undefined;
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, proceed) {
            const incoming = {
              metadata: (name: string) => textOf(metadata, name),
              timeoutMs: remainingMs(call.getDeadline()),
              givenUp: giveUp.signal,
            };
            procedure.admit(incoming).then(
              (admission) => {
                admitted = admission;
                admissions.set(metadata, admission);
                proceed(metadata);
              },
              (error: ConnectError) => call.sendStatus(grpcStatusOf(error)),
            );
          },
          onCancel() {
            giveUp.abort();
            // Where grpc-js itself refused the body, the handler never saw the call.
            if (admitted !== undefined && !admitted.answering) {
              procedure.refuse(admitted, cancelled());
            }
          },
        }),
    });
  };
}

function answering(procedure: Procedure, admissions: Admissions) {
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
