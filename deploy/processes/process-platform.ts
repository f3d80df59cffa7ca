// The platform with every service in processes of its own.
import { join } from 'node:path';
import type { ServiceAddress } from '@creditlane/local/demo/demo';
import { HOST } from '@creditlane/local/host';
import type { Platform } from '@creditlane/local/platform';
import type { Ports } from '@creditlane/local/ports';
import { servicesOf } from '@creditlane/local/settings';
import type { Process } from '@creditlane/runtime/run';
import { environmentOf, type ProcessSettings } from './environment.ts';
import { type Instance, planInstances, type Replicas } from './instances.ts';
import { ServiceProcess } from './service-process.ts';
import { untilSettled } from './settled.ts';

export interface ProcessPlatformOptions extends ProcessSettings {
  ports: Ports;
  replicas?: Replicas;
  /** Settings of every service, such as LOG_LEVEL. */
  commonSettings?: Record<string, string>;
  /** The folder of the pid files, which must exist; without it a killed launcher's processes are not found. */
  pidFilesDir?: string;
  /** Gets the logs of all services as lines for people. */
  write: (text: string) => void;
}

/** The platform with every service in processes of its own. */
export interface ProcessPlatform extends Platform {
  /** The present address of each process. */
  services(): Record<string, ServiceAddress>;
}

/**
 * Starts every service at once and resolves when all are ready. They end with the process's closers,
 * each before the services that it calls, and the replicas of a service together.
 */
export async function startProcessPlatform(
  options: ProcessPlatformOptions,
  process: Process,
): Promise<ProcessPlatform> {
  const { ports, replicas = {}, commonSettings, pidFilesDir, write } = options;
  const instances = planInstances(ports, replicas, servicesOf(options));
  let restartListener = () => {};
  const spawn = (instance: Instance) =>
    new ServiceProcess({
      instance,
      env: { ...commonSettings, ...environmentOf(instance, instances, options) },
      ...(pidFilesDir !== undefined && { pidFile: join(pidFilesDir, instance.name) }),
      log: process.log,
      write,
      onRestart: () => restartListener(),
    });
  const byService = Map.groupBy(instances, ({ service }) => service.name);
  const running = [...byService].flatMap(([name, replicasOfService]) => {
    const processes = replicasOfService.map(spawn);
    process.closers.add(name, async () => {
      await Promise.all(processes.map((it) => it.stop()));
    });
    return processes;
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
