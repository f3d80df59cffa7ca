// Several replicas of the gateway in front of one integrations service, without the other services.
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { type PlatformSettings, settingsOf } from '@creditlane/local/settings';
import { makeSecrets, publicKeys, secretsOf } from '@creditlane/platform/secrets';
import { consumersOf, SERVICES, type ServiceName } from '@creditlane/platform/services';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import { TokenSigner, TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import { readSettings } from '@creditlane/runtime/setting';
import { createTestProcess } from '@creditlane/runtime/test-process';
import type { AnyService } from '@creditlane/service/define-service';
import { localSettings } from '@creditlane/service/settings';
import { startService } from '@creditlane/service/start-service';
import type pg from 'pg';
import { MetricSamples } from './metric-samples.ts';

export interface GatewayReplica {
  /** Sends the request with the key. */
  send(key: string, path: string, init?: RequestInit): Promise<Response>;
  /** The number of calls that took requests from quotas, of all outcomes or of one. */
  takes(outcome?: string): Promise<number>;
  close(): Promise<void>;
}

export interface GatewayReplicas {
  replicas: GatewayReplica[];
  /** Of the integrations service. */
  sql: pg.Pool;
  /** Starts another one, which is not among `replicas` and which the test closes. */
  startReplica(): Promise<GatewayReplica>;
  /** Registers an integration, with this limit if any, and resolves to a key of it. */
  issueKey(rateLimit?: { requests: number; windowSeconds: number }): Promise<string>;
  close(): Promise<void>;
}

/** Starts the integrations service on a new database, and so many replicas of the gateway. */
export async function startGatewayReplicas(count: number): Promise<GatewayReplicas> {
  const database = await createTestDatabase('rate_limits');
  const secrets = makeSecrets();
  const options = {
    secrets,
    databaseUrls: { integrations: database.url } as PlatformSettings['databaseUrls'],
    ports: { api: 0 },
  };
  const start = async (name: ServiceName, endpoint: Endpoint | undefined) => {
    const service: AnyService | undefined = SERVICES.find((it) => it.name === name);
    if (service === undefined) throw new Error(`there is no ${name}`);
    const process = createTestProcess(name);
    const { privateKey } = secretsOf(secrets, name).identity;
    const running = await startService(
      service,
      readSettings(settingsOf(service, options), localSettings(service)),
      {
        process,
        bus: createInProcessBus({ consumers: consumersOf(SERVICES) }),
        // Calls of other services fail. The requests of these tests are answered without them.
        endpoints: Object.fromEntries(SERVICES.map((peer) => [peer.name, endpoint ?? NOWHERE])),
        signer: new TokenSigner({ issuer: name, privateKey }),
      },
    );
    return { process, running };
  };

  const integrations = await start('integrations', undefined);
  const { log, metrics, closers } = integrations.process;
  const verifier = new TokenVerifier({ audience: 'integrations', trusted: publicKeys(secrets) });
  const routes = integrations.running.routes ?? [];
  const endpoint: Endpoint = {
    kind: 'memory',
    unary: mountInMemory(routes, { verifier, log, metrics }),
  };
  const replicas: GatewayReplica[] = [];
  const startReplica = async () => {
    const { process, running } = await start('gateway', endpoint);
    return replicaAt(running.url ?? '', process);
  };
  for (let index = 0; index < count; index += 1) replicas.push(await startReplica());

  const asPlatform = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await replicas[0]?.send(secrets.platformKey, `/platform${path}`, init);
    return (await answer?.json()) as { integrationId: string; key: string };
  };
  return {
    replicas,
    sql: database.sql,
    startReplica,
    async issueKey(rateLimit) {
      const registration = { name: 'DealerDesk', ...(rateLimit && { rateLimit }) };
      const { integrationId } = await asPlatform('/integrations', registration);
      return (await asPlatform(`/integrations/${integrationId}/keys`, {})).key;
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.close()));
      await closers.close();
      await database.drop();
    },
  };
}

const NOWHERE: Endpoint = {
  kind: 'memory',
  unary: mountInMemory([], {
    verifier: new TokenVerifier({ audience: 'nowhere', trusted: {} }),
    ...createTestProcess('nowhere'),
  }),
};

function replicaAt(
  url: string,
  { metrics, closers }: ReturnType<typeof createTestProcess>,
): GatewayReplica {
  return {
    send: (key, path, init = {}) =>
      fetch(`${url}/v1${path}`, { ...init, headers: { ...init.headers, authorization: key } }),
    async takes(outcome) {
      const samples = new MetricSamples(await metrics.text());
      return samples.sum('rate_limit_takes_total', outcome === undefined ? {} : { outcome });
    },
    close: () => closers.close(),
  };
}
