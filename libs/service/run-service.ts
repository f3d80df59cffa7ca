/** Runs a service as a process of its own; a service's main file only calls `runService`. */
import type { EventBus } from '@creditlane/events/bus';
import type { KafkaConfig } from '@creditlane/events/kafka-config';
import { serve } from '@creditlane/rpc/serve';
import { startOpsServer } from '@creditlane/runtime/ops-server';
import { type Process, run } from '@creditlane/runtime/run';
import { readSettings, type SettingValues } from '@creditlane/runtime/setting';
import type { AnyService } from './define-service.ts';
import { processSettings } from './settings.ts';
import { startService } from './start-service.ts';

/** Reads the service's settings, starts the service, and serves until SIGTERM or SIGINT; see `run`. */
export async function runService(service: AnyService): Promise<void> {
  const settings = processSettings(service);
  const openBus = await loadLibraries(service);
  return run(
    service.name,
    (env) => readSettings(env, settings),
    (values, process) => startProcess(service, values, process, openBus),
  );
}

type OpenBus = (config: KafkaConfig, process: Process) => EventBus;

/**
 * Loads the libraries that only some services need: TypeORM and Kafka's client are a third of a process's modules. With
 * `--check`, too, which fills the compile cache of the image.
 */
async function loadLibraries(service: AnyService): Promise<OpenBus | undefined> {
  const { database, publishes, consumes } = service;
  const hasEvents = publishes !== undefined || consumes !== undefined;
  const [bus] = await Promise.all([
    hasEvents ? import('@creditlane/events/bus-from-config') : undefined,
    database && import('@creditlane/postgres/database'),
  ]);
  return bus?.openBus;
}

async function startProcess(
  service: AnyService,
  settings: SettingValues<ReturnType<typeof processSettings>>,
  process: Process,
  openBus: OpenBus | undefined,
): Promise<void> {
  const { server, ops, client, kafka } = settings;
  const bus = kafka && openBus?.(kafka, process);
  const { endpoints, signer } = client ?? {};
  const start = () => startService(service, settings, { process, bus, endpoints, signer });
  if (server !== undefined) {
    const startRoutes = async () => ({ routes: (await start()).routes ?? [] });
    return serve(service.name, server, process, startRoutes);
  }
  client?.certificates?.observe(process);
  const { close } = await startOpsServer({ host: ops.host, port: ops.opsPort, ...process });
  process.closers.add('ops server', close);
  await start();
}
