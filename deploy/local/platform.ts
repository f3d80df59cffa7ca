// The platform in one process: all services on one event bus, which call each other in memory.
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { publicKeys, secretsOf } from '@creditlane/platform/secrets';
import { consumersOf, sortByEventFlow } from '@creditlane/platform/services';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import { TokenSigner, TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { startOpsServer } from '@creditlane/runtime/ops-server';
import type { Process } from '@creditlane/runtime/run';
import { readSettings } from '@creditlane/runtime/setting';
import type { AnyService, StartedService } from '@creditlane/service/define-service';
import { localSettings } from '@creditlane/service/settings';
import { startService } from '@creditlane/service/start-service';
import type { ServiceAddress } from './demo/demo.ts';
import { HOST } from './host.ts';
import type { Ports } from './ports.ts';
import { type PlatformSettings, servicesOf, settingsOf } from './settings.ts';

export interface PlatformOptions extends PlatformSettings {
  ports: Pick<Ports, 'api' | 'ops'>;
}

export interface Platform {
  /** Ends in /v1. */
  baseUrl: string;
  opsUrl: string;
  /** Resolves when every event has been handled and no webhook is under way or due. */
  settled(): Promise<void>;
  /** The present addresses of the processes; left out by a platform in one process. */
  services?(): Record<string, ServiceAddress>;
  /** Calls `listener` after each restart of a process. */
  onRestart?(listener: () => void): void;
}

/** Starts every service, in the order of the list; all end with the process's closers. */
export async function startPlatform(options: PlatformOptions, process: Process): Promise<Platform> {
  const services = servicesOf(options);
  const { log, metrics, closers } = process;
  const ops = await startOpsServer({ host: HOST, port: options.ports.ops, ...process });
  closers.add('ops server', ops.close);
  const bus = createInProcessBus({ consumers: consumersOf(services), metrics });
  closers.add('event bus', () => bus.close());

  const mount = (audience: string, routes: ServiceRoutes[]): Endpoint => {
    const verifier = new TokenVerifier({ audience, trusted: publicKeys(options.secrets) });
    return { kind: 'memory', unary: mountInMemory(routes, { verifier, log, metrics }) };
  };
  const started = new Map<AnyService, StartedService>();
  const endpoints: Record<string, Endpoint> = {};
  let gatewayUrl = '';
  for (const service of services) {
    const { name } = service;
    const settings = readSettings(settingsOf(service, options), localSettings(service));
    const { privateKey } = secretsOf(options.secrets, name).identity;
    const signer = new TokenSigner({ issuer: name, privateKey });
    const parts = { process, bus, endpoints, signer, isAlone: true };
    const running = await startService(service, settings, parts);
    started.set(service, running);
    if (running.routes !== undefined) endpoints[name] = mount(name, running.routes);
    if (running.url !== undefined) gatewayUrl = running.url;
  }

  return {
    baseUrl: `${gatewayUrl}/v1`,
    opsUrl: ops.url,
    async settled() {
      // In this order, each service handles the events that the services before it have published.
      for (const service of sortByEventFlow(services)) await started.get(service)?.settled?.();
    },
  };
}
