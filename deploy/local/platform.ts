// The whole platform in one process: every service with its own database, one event bus, no sockets between them.
import { startApplications } from '@creditlane/applications/app';
import { readConfig as readApplicationsConfig } from '@creditlane/applications/config';
import { startDecisions } from '@creditlane/decisions/app';
import { readConfig as readDecisionsConfig } from '@creditlane/decisions/config';
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { startGateway } from '@creditlane/gateway/app';
import { readConfig as readGatewayConfig } from '@creditlane/gateway/config';
import { startIntegrations } from '@creditlane/integrations/app';
import { readConfig as readIntegrationsConfig } from '@creditlane/integrations/config';
import type { Endpoint } from '@creditlane/rpc/client';
import { TokenSigner, TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { startOpsServer } from '@creditlane/runtime/ops-server';
import type { Process } from '@creditlane/runtime/run';
import { startWebhookDispatcher } from '@creditlane/webhook-dispatcher/app';
import { readConfig as readDispatcherConfig } from '@creditlane/webhook-dispatcher/config';
import type { ServiceAddress } from './demo.ts';
import { HOST } from './host.ts';
import type { Ports } from './ports.ts';
import { publicKeys } from './secrets.ts';
import type { ServiceName } from './services.ts';
import { type PlatformSettings, settingsOf } from './settings.ts';

export interface PlatformOptions extends PlatformSettings {
  ports: Pick<Ports, 'api' | 'ops'>;
}

export interface Platform {
  /** Ends in /v1. */
  baseUrl: string;
  opsUrl: string;
  /** Resolves when every event has been handled and no webhook is under way or due. */
  settled(): Promise<void>;
  /** Where its processes are at present, if it is made of several. */
  services?(): Record<string, ServiceAddress>;
  /** Has `listener` called whenever one of them was started again. */
  onRestart?(listener: () => void): void;
}

/** Starts every service, in the order of what they need; all ends with the process's closers. */
export async function startPlatform(options: PlatformOptions, process: Process): Promise<Platform> {
  const { ports } = options;
  const env = (service: ServiceName) => settingsOf(service, options);
  const mount = (service: ServiceName, { routes }: { routes: ServiceRoutes[] }): Endpoint => ({
    kind: 'memory',
    transport: mountInMemory(routes, {
      verifier: new TokenVerifier({ audience: service, trusted: publicKeys(options.secrets) }),
      log: process.log,
      metrics: process.metrics,
    }),
  });

  const signer = (service: ServiceName) =>
    new TokenSigner({
      issuer: service,
      privateKey: options.secrets.services[service].identity.privateKey,
    });

  const ops = await startOpsServer({ host: HOST, port: ports.ops, ...process });
  process.closers.add('ops server', ops.close);
  const bus = createInProcessBus({ metrics: process.metrics });
  process.closers.add('event bus', () => bus.close());

  const integrations = await startIntegrations(readIntegrationsConfig(env('integrations')), {
    process,
  });
  const applications = await startApplications(readApplicationsConfig(env('applications')), {
    process,
    bus,
  });
  const peers = {
    integrations: mount('integrations', integrations),
    applications: mount('applications', applications),
  };
  const decisions = await startDecisions(readDecisionsConfig(env('decisions')), {
    process,
    bus,
    peers,
    signer: signer('decisions'),
  });
  const dispatcher = await startWebhookDispatcher(readDispatcherConfig(env('webhook-dispatcher')), {
    process,
    bus,
    peers,
    signer: signer('webhook-dispatcher'),
  });
  const gateway = await startGateway(readGatewayConfig(env('gateway')), {
    process,
    peers: { ...peers, decisions: mount('decisions', decisions) },
    signer: signer('gateway'),
  });

  return {
    baseUrl: `${gateway.url}/v1`,
    opsUrl: ops.url,
    async settled() {
      // In the order in which an event travels, so that each waits for all that the one before sent.
      await applications.settled();
      await decisions.settled();
      await dispatcher.settled();
    },
  };
}
