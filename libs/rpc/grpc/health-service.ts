/**
 * grpc.health.v1: what `/readyz` says, for probes and balancers that speak gRPC. It is open to
 * callers without a token, as they have none, and tells nothing but whether to send work here.
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

/** How often a watched status is looked at. */
const WATCH_MS = 250;

type Watcher = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>;

/**
 * Adds the health service to a server of these services. All have one status, the process's.
 * `close` ends what watches, which would otherwise keep the server open.
 */
export function addHealthService(
  server: Server,
  health: Health,
  services: readonly DescService[],
): { close(): void } {
  const known = new Set(['', ...services.map(({ typeName }) => typeName)]);
  const watchers = new Set<() => void>();
  const present = () => (health.ready().ready ? Status.SERVING : Status.NOT_SERVING);

  server.addService(definitionOf(HealthDescriptor), {
    Check({ request }: CheckCall, respond: sendUnaryData<HealthCheckResponse>) {
      if (known.has(request.service)) respond(null, responseOf(present()));
      else respond({ code: status.NOT_FOUND, details: 'there is no such service here' });
    },
    List(_call: ListCall, respond: sendUnaryData<HealthListResponse>) {
      const now: MessageInitShape<typeof HealthCheckResponseSchema> = { status: present() };
      const statuses = Object.fromEntries([...known].map((name) => [name, now]));
      respond(null, create(HealthListResponseSchema, { statuses }));
    },
    Watch(call: Watcher) {
      const isKnown = known.has(call.request.service);
      let last: Status | undefined;
      const look = () => {
        const now = isKnown ? present() : Status.SERVICE_UNKNOWN;
        if (now !== last) call.write(responseOf(now));
        last = now;
      };
      const timer = setInterval(look, WATCH_MS);
      const end = () => {
        clearInterval(timer);
        watchers.delete(end);
        call.end();
      };
      watchers.add(end);
      call.once('cancelled', end);
      look();
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
