import { join } from 'node:path';
import type { ServiceAddress } from '@creditlane/local/demo';
import { HOST } from '@creditlane/local/host';
import type { Platform } from '@creditlane/local/platform';
import type { Ports } from '@creditlane/local/ports';
import { servicesOf } from '@creditlane/local/settings';
import type { Process } from '@creditlane/runtime/run';
import { environmentOf, type ProcessSettings } from './environment.ts';
import { planInstances, type Replicas } from './instances.ts';
import { ServiceProcess } from './service-process.ts';
import { untilSettled } from './settled.ts';

export interface FleetOptions extends ProcessSettings {
  ports: Ports;
  replicas?: Replicas;
  /** Settings of every service, such as LOG_LEVEL. */
  everywhere?: Record<string, string>;
  /** Where the processes are marked; must exist. Without, a killed fleet leaves no word of them. */
  pidFilesDir?: string;
  /** Takes all that the services say, for people. */
  write: (text: string) => void;
}

/** The platform with each service in processes of its own. */
export interface ProcessFleet extends Platform {
  /** Where each process is at present. */
  services(): Record<string, ServiceAddress>;
}

/**
 * Starts every service, all at once, and resolves when all take work. They end with the process's
 * closers, callers before those they call.
 */
export async function startFleet(options: FleetOptions, process: Process): Promise<ProcessFleet> {
  const { ports, replicas = {}, everywhere, pidFilesDir, write } = options;
  const instances = planInstances(ports, replicas, servicesOf(options));
  let restartListener = () => {};
  const running = instances.map((instance) => {
    const service = new ServiceProcess({
      instance,
      env: { ...everywhere, ...environmentOf(instance, instances, options) },
      ...(pidFilesDir !== undefined && { pidFile: join(pidFilesDir, instance.name) }),
      log: process.log,
      write,
      onRestart: () => restartListener(),
    });
    process.closers.add(instance.name, () => service.stop());
    return service;
  });
  await Promise.all(running.map((service) => service.ready()));
  return {
    baseUrl: `http://${HOST}:${ports.api}/v1`,
    opsUrl: `http://${HOST}:${ports.ops}`,
    settled: () => untilSettled(options.databaseUrls, { services: servicesOf(options) }),
    services: () => Object.fromEntries(running.map((it) => [it.instance.name, addressOf(it)])),
    onRestart(listener) {
      restartListener = listener;
    },
  };
}

function addressOf({ pid, instance: { ports } }: ServiceProcess): ServiceAddress {
  return {
    pid,
    opsUrl: `http://${HOST}:${ports.ops}`,
    rpcUrl: `http://${HOST}:${ports.http}`,
    ...(ports.grpc !== undefined && { grpcAddress: `${HOST}:${ports.grpc}` }),
  };
}
