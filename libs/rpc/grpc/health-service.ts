/**
 * grpc.health.v1: the status of `/readyz` for probes and load balancers that use gRPC. Callers need no
 * token, because probes have none, and learn only whether the process is ready.
 */
import { create, type DescService, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthCheckResponseSchema,
  Health as HealthDescriptor,
  type HealthListRequest,
  type HealthListResponse,
  HealthListResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from '@creditlane/proto/grpc/health/v1/health';
import type { Health } from '@creditlane/runtime/health';
import {
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { definitionOf } from './definition.ts';

/** How often the status is read for all callers of Watch. */
const WATCH_INTERVAL_MS = 250;
/** Calls of Watch at once. They need no token, so that anyone who reaches the port could keep a process busy. */
export const MAX_WATCHERS = 100;

type Watcher = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>;

/**
 * Adds the health service to a server of these services, which all have the status of the process.
 * `close` ends the Watch calls, which would otherwise keep the server open.
 */
export function addHealthService(
  server: Server,
  health: Health,
  services: readonly DescService[],
): { close(): void } {
  const known = new Set(['', ...services.map(({ typeName }) => typeName)]);
  /** The calls of Watch, with the status that each was sent last. */
  const watchers = new Map<Watcher, Status>();
  let timer: NodeJS.Timeout | undefined;
  const currentStatus = () => (health.ready().ready ? Status.SERVING : Status.NOT_SERVING);

  server.addService(definitionOf(HealthDescriptor), {
    Check({ request }: CheckCall, respond: sendUnaryData<HealthCheckResponse>) {
      if (known.has(request.service)) respond(null, responseOf(currentStatus()));
      else respond({ code: status.NOT_FOUND, details: 'the service is not served here' });
    },
    List(_call: ListCall, respond: sendUnaryData<HealthListResponse>) {
      const now: MessageInitShape<typeof HealthCheckResponseSchema> = { status: currentStatus() };
      const statuses = Object.fromEntries([...known].map((name) => [name, now]));
      respond(null, create(HealthListResponseSchema, { statuses }));
    },
    Watch(call: Watcher) {
      if (watchers.size >= MAX_WATCHERS) {
        const details = `more than ${MAX_WATCHERS} calls watch the health of this process`;
        call.emit('error', { code: status.RESOURCE_EXHAUSTED, details });
        return;
      }
      const now = statusOf(call, currentStatus());
      watchers.set(call, now);
      call.once('cancelled', () => end(call));
      call.write(responseOf(now));
      timer ??= setInterval(sendChanges, WATCH_INTERVAL_MS);
    },
  });

  function statusOf({ request }: Watcher, current: Status): Status {
    return known.has(request.service) ? current : Status.SERVICE_UNKNOWN;
  }

  function sendChanges() {
    const current = currentStatus();
    for (const [call, last] of watchers) {
      const now = statusOf(call, current);
      if (now === last) continue;
      watchers.set(call, now);
      call.write(responseOf(now));
    }
  }

  function end(call: Watcher) {
    watchers.delete(call);
    call.end();
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    close() {
      for (const call of watchers.keys()) end(call);
    },
  };
}

type CheckCall = ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>;
type ListCall = ServerUnaryCall<HealthListRequest, HealthListResponse>;

function responseOf(now: Status): HealthCheckResponse {
  return create(HealthCheckResponseSchema, { status: now });
}
