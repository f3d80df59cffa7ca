/** Services mounted for other services: gRPC over HTTP/2, its definitions read off the descriptors. */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import {
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { REPLAYED } from './call.ts';
import { cancelled } from './fault.ts';
import { grpcStatusOf } from './grpc-status.ts';
import { DEFAULT_GRACE_MS, DEFAULT_HOST, READ_MAX_BYTES, type ServerOptions } from './mount.ts';
import { type Admitted, type Procedure, proceduresOf } from './pipeline.ts';

export type GrpcServerOptions = ServerOptions & {
  /** How long a connection may last; its client then connects again, perhaps to a new replica. */
  maxConnectionAgeMs?: number;
};

const DEFAULT_MAX_CONNECTION_AGE_MS = 60_000;
const KEEPALIVE_MS = 30_000;
const KEEPALIVE_TIMEOUT_MS = 10_000;

/** Between the start of a call and its body, the caller's admission waits under its metadata. */
type Admissions = WeakMap<Metadata, Admitted>;

/**
 * Listens; resolves when it does. `close` stops listening, ends idle sessions at once and the
 * others after their calls, or after the grace.
 */
export async function startGrpcServer({
  port,
  host = DEFAULT_HOST,
  routes,
  readMaxBytes = READ_MAX_BYTES,
  graceMs = DEFAULT_GRACE_MS,
  maxConnectionAgeMs = DEFAULT_MAX_CONNECTION_AGE_MS,
  ...around
}: GrpcServerOptions): Promise<{ port: number; close(): Promise<void> }> {
  const procedures = new Map(
    proceduresOf(routes, around).map((procedure) => [procedure.path, procedure]),
  );
  const admissions: Admissions = new WeakMap();
  const server = new Server({
    'grpc.max_receive_message_length': readMaxBytes,
    'grpc.max_connection_age_ms': maxConnectionAgeMs,
    'grpc.max_connection_age_grace_ms': graceMs,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    interceptors: [admitting(procedures, admissions)],
  });
  for (const procedure of procedures.values()) {
    const { path, method } = procedure;
    server.addService(
      { [method.name]: definitionOf(path) },
      { [method.name]: answering(procedure, admissions) },
    );
  }
  const bound = await bind(server, `${host}:${port}`);
  let closing: Promise<void> | undefined;
  return {
    port: bound,
    close() {
      closing ??= closeGracefully(server, graceMs);
      return closing;
    },
  };
}

/** Bytes in, bytes out: the pipeline decodes, and only for a caller it has admitted. */
function definitionOf(path: string): MethodDefinition<Buffer, Buffer> {
  const same = (bytes: Buffer) => bytes;
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
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
    let admitted: Admitted | undefined;
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
        respond(null, Buffer.from(value.buffer, value.byteOffset, value.byteLength));
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

function bind(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
}

function closeGracefully(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const cutOff = setTimeout(() => server.forceShutdown(), graceMs);
    server.tryShutdown((error) => {
      clearTimeout(cutOff);
      if (error === undefined) resolve();
      else reject(error);
    });
  });
}
