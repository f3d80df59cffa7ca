/** `runService`, the last call of a service's main file, runs the service as a process of its own, or a command of its operators. */
import { serve } from '@creditlane/rpc/serve';
import { startOpsServer } from '@creditlane/runtime/ops-server';
import { type Process, run } from '@creditlane/runtime/run';
import type { SettingValues } from '@creditlane/runtime/setting';
import type { AnyService } from './define-service.ts';
import { runServiceCommand } from './run-service-command.ts';
import type { ServiceCommand } from './service-command.ts';
import { processSettings } from './settings.ts';
import { startService } from './start-service.ts';

/**
 * Runs the command that the process's first argument names; without one, reads the service's settings, starts the service,
 * and serves until SIGTERM or SIGINT; see `run`.
 */
export async function runService<D extends AnyService>(
  service: D,
  commands?: Readonly<Record<string, ServiceCommand<D['settings']>>>,
): Promise<void> {
  if (await runServiceCommand(service, commands)) return;
  const settings = processSettings(service);
  await loadLibraries(service);
  return run(service.name, settings, (values, process) => startProcess(service, values, process));
}

/**
 * Loads TypeORM and Kafka's client for a service that declares a database or topics. The gateway declares neither, and so loads
 * a third fewer modules. They are loaded before the settings are read, because `--check`, by which the image's compile cache
 * is filled, ends there.
 */
async function loadLibraries({ database, publishes, consumes }: AnyService): Promise<void> {
  const hasTopics = publishes !== undefined || consumes !== undefined;
  await Promise.all([
    database && import('@creditlane/postgres/database'),
    hasTopics && import('@creditlane/events/bus-from-config'),
  ]);
}

async function startProcess(
  service: AnyService,
  settings: SettingValues<ReturnType<typeof processSettings>>,
  process: Process,
): Promise<void> {
  const { server, ops, client, kafka } = settings;
  const bus = kafka && (await import('@creditlane/events/bus-from-config')).openBus(kafka, process);
  (server ?? client)?.certificates?.observe(process);
  // Probes are answered before the service starts: one that waits for its database is live and not ready.
  const probes = await startOpsServer({ ...ops, ...process });
  process.closers.add('ops server', probes.close);
  const { endpoints, signer } = client ?? {};
  const parts = { process, bus, endpoints, signer };
  const { routes = [] } = await startService(service, settings, parts);
  if (server === undefined) return;
  const served = await serve(service.name, server, routes, process);
  process.log.info({ ...served, ops: probes.url }, 'serving');
}
