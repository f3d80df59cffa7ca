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

/** How often the status is read for callers of Watch. */
const WATCH_INTERVAL_MS = 250;

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
  const watchers = new Set<() => void>();
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
      const isKnown = known.has(call.request.service);
      let last: Status | undefined;
      const sendChange = () => {
        const now = isKnown ? currentStatus() : Status.SERVICE_UNKNOWN;
        if (now !== last) call.write(responseOf(now));
        last = now;
      };
      const timer = setInterval(sendChange, WATCH_INTERVAL_MS);
      const end = () => {
        clearInterval(timer);
        watchers.delete(end);
        call.end();
      };
      watchers.add(end);
      call.once('cancelled', end);
      sendChange();
    },
  });
  return {
    close() {
      for (const end of watchers) end();
    },
  };
}

type CheckCall = ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>;
type ListCall = ServerUnaryCall<HealthListRequest, HealthListResponse>;

function responseOf(now: Status): HealthCheckResponse {
  return create(HealthCheckResponseSchema, { status: now });
}
