/** Runs a service as a process of its own; a service's main file only calls `runService`. */
import { openBus } from '@creditlane/events/bus-from-config';
import { serve } from '@creditlane/rpc/serve';
import { startOpsServer } from '@creditlane/runtime/ops-server';
import { type Process, run } from '@creditlane/runtime/run';
import { readSettings, type SettingValues } from '@creditlane/runtime/setting';
import type { AnyService } from './define-service.ts';
import { processSettings } from './settings.ts';
import { startService } from './start-service.ts';

/** Reads the service's settings, starts the service, and serves until SIGTERM or SIGINT; see `run`. */
export function runService(service: AnyService): Promise<void> {
  const settings = processSettings(service);
  return run(
    service.name,
    (env) => readSettings(env, settings),
    (values, process) => startProcess(service, values, process),
  );
}

async function startProcess(
  service: AnyService,
  settings: SettingValues<ReturnType<typeof processSettings>>,
  process: Process,
): Promise<void> {
  const { server, ops, client, kafka } = settings;
  const bus = kafka && openBus(kafka, process);
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
