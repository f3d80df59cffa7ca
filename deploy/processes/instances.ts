// The processes of a platform: which there are, their names and their ports.
import { HOST } from '@creditlane/local/host';
import type { Ports } from '@creditlane/local/ports';
import { SERVICES } from '@creditlane/platform/services';
import type { AnyService } from '@creditlane/service/define-service';

/** How many processes a service has; one where its name is missing. */
export type Replicas = Readonly<Record<string, number>>;

/** One process of a service, and the ports it listens on. */
export interface Instance {
  /** The service's name; from the second process on, with its number: decisions, decisions-2. */
  name: string;
  service: AnyService;
  ports: {
    /** The REST interface of the gateway; elsewhere Connect over HTTP/1.1. */
    http: number;
    ops: number;
    /** For calls of other services, where the service serves calls. */
    grpc?: number;
  };
}

const PORTS_PER_PROCESS = 3;

/** How many ports the processes need beyond those of the API. */
export function portsNeeded(
  replicas: Replicas,
  services: readonly AnyService[] = SERVICES,
): number {
  return PORTS_PER_PROCESS * callees(replicas, services).length;
}

/**
 * Every process with its ports, in the order of the services. The processes stop in the reverse order.
 * The gateway has one process, because the API has one address.
 */
export function planInstances(
  ports: Ports,
  replicas: Replicas,
  services: readonly AnyService[] = SERVICES,
): Instance[] {
  const instances = callees(replicas, services).map((instance, index) => {
    const [grpc = 0, http = 0, ops = 0] = ports.services.slice(PORTS_PER_PROCESS * index);
    return { ...instance, ports: { grpc, http, ops } };
  });
  const gateways = services
    .filter(({ serves }) => serves === 'http')
    .map((service) => ({
      name: service.name,
      service,
      ports: { http: ports.api, ops: ports.ops },
    }));
  return [...instances, ...gateways];
}

/** By service, the gRPC addresses of all its processes, separated by commas. */
export function addressesOf(instances: readonly Instance[]): Map<string, string> {
  const called = instances.filter(({ ports }) => ports.grpc !== undefined);
  const byService = Map.groupBy(called, ({ service }) => service.name);
  return new Map(
    [...byService].map(([service, ofService]) => [
      service,
      ofService.map(({ ports }) => `${HOST}:${ports.grpc}`).join(','),
    ]),
  );
}

/** The processes of the services that serve calls. */
function callees(replicas: Replicas, services: readonly AnyService[]) {
  return services
    .filter(({ serves }) => serves === 'calls')
    .flatMap((service) =>
      Array.from({ length: replicas[service.name] ?? 1 }, (_, index) => ({
        name: index === 0 ? service.name : `${service.name}-${index + 1}`,
        service,
      })),
    );
}
