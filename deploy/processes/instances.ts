import { HOST } from '@creditlane/local/host';
import type { Ports } from '@creditlane/local/ports';
import { SERVICES, type ServiceName } from '@creditlane/local/services';

/** How many processes a service has; one where nothing is said. */
export type Replicas = Partial<Record<ServiceName, number>>;

/** One process of a service, and the ports it listens on. */
export interface Instance {
  /** The service's name, with a number behind it for all but its first process. */
  name: string;
  service: ServiceName;
  ports: {
    /** Callers' REST at the gateway, elsewhere Connect over HTTP/1.1. */
    http: number;
    ops: number;
    /** The gateway is called by nobody here. */
    grpc?: number;
  };
}

const PORTS_EACH = 3;

/** The processes of each service behind the gateway, which itself is one: the API has one address. */
function behindGateway(replicas: Replicas): { name: string; service: ServiceName }[] {
  return SERVICES.filter((service) => service !== 'gateway').flatMap((service) =>
    Array.from({ length: replicas[service] ?? 1 }, (_, index) => ({
      name: index === 0 ? service : `${service}-${index + 1}`,
      service,
    })),
  );
}

/** How many ports the processes need beyond those of the API. */
export function portsNeeded(replicas: Replicas): number {
  return PORTS_EACH * behindGateway(replicas).length;
}

/** Every process with its ports, in the order in which they stop last: those that are called first. */
export function planInstances(ports: Ports, replicas: Replicas): Instance[] {
  const behind = behindGateway(replicas).map((instance, index) => {
    const [grpc = 0, http = 0, ops = 0] = ports.services.slice(PORTS_EACH * index);
    return { ...instance, ports: { grpc, http, ops } };
  });
  const gateway = { http: ports.api, ops: ports.ops };
  return [...behind, { name: 'gateway', service: 'gateway', ports: gateway }];
}

/** Where each service is called: the addresses of all its processes, as `readCalling` takes them. */
export function addressesOf(instances: readonly Instance[]): Map<ServiceName, string> {
  const called = instances.filter(({ ports }) => ports.grpc !== undefined);
  const byService = Map.groupBy(called, ({ service }) => service);
  return new Map(
    [...byService].map(([service, its]) => [
      service,
      its.map(({ ports }) => `${HOST}:${ports.grpc}`).join(','),
    ]),
  );
}
