/** For tests: a real gateway on a real port, its peers in memory, and one caller of each kind. */
import { Caller } from '@creditlane/proto/common/v1/access';
import type { Endpoint } from '@creditlane/rpc/client';
import { generateIdentityKeys, TokenSigner, TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { Closers } from '@creditlane/runtime/closers';
import { Health } from '@creditlane/runtime/health';
import { newId } from '@creditlane/runtime/ids';
import { readSettings } from '@creditlane/runtime/setting';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { localSettings } from '@creditlane/service/settings';
import { startGateway } from './app.ts';
import { type GatewaySettings, gateway as manifest } from './service.ts';
import { TestPeers } from './test-peers.ts';

/** An answer with its body read; `json` is undefined where the body is not JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  json: any;
}

export interface Request {
  key?: string | undefined;
  /** Sent as JSON unless it is a string or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
}

export async function startWorld(settings: Partial<GatewaySettings> = {}) {
  const keys = generateIdentityKeys();
  const lines: string[] = [];
  const log = createLog('gateway', { destination: { write: (line) => void lines.push(line) } });
  const process = { log, metrics: new Metrics(), closers: new Closers(), health: new Health() };
  const peers = new TestPeers();
  const mount = (audience: string, routes: ServiceRoutes[]): Endpoint => ({
    kind: 'memory',
    transport: mountInMemory(routes, {
      verifier: new TokenVerifier({ audience, trusted: { gateway: keys.publicKey } }),
      log: createLog(audience, { level: 'silent' }),
      metrics: new Metrics(),
    }),
  });
  const env = { HOST: '127.0.0.1', PORT: '0', ACCESS_CACHE_TIME: '0ms' };
  const { own } = readSettings(env, localSettings(manifest));
  const gateway = await startGateway({
    settings: { ...own, ...settings },
    process,
    signer: new TokenSigner({ issuer: 'gateway', privateKey: keys.privateKey }),
    endpoints: {
      integrations: mount('integrations', peers.integrations()),
      applications: mount('applications', peers.applicationServices()),
      decisions: mount('decisions', peers.decisions()),
    },
  });

  const { ids, key, platformKey } = populate(peers);

  /** Sends a request with the integration's key, or another, or with none when `key` is empty. */
  async function send(method: string, path: string, request: Request = {}): Promise<Answer> {
    const { body, key: given = key, headers = {} } = request;
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(gateway.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(given !== '' && { authorization: `Bearer ${given}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  }

  return {
    gateway,
    process,
    peers,
    ids,
    key,
    platformKey,
    send,
    lines,
    decisionPath: `/v1/applications/${ids.application}/creditors/${ids.creditor}/decision`,
    close: () => process.closers.close(),
  };
}

/** An integration with a grant on a retailer and a creditor, and a second tenant beside it. */
function populate(peers: TestPeers) {
  const ids = {
    integration: newId(),
    retailer: newId(),
    creditor: newId(),
    application: newId(),
    otherRetailer: newId(),
    otherCreditor: newId(),
    otherApplication: newId(),
  };
  const key = peers.issue(Caller.INTEGRATION, ids.integration);
  const permissions = ['MANAGE_INTEGRATIONS', 'MANAGE_DIRECTORY'];
  const platformKey = peers.issue(Caller.PLATFORM, newId(), permissions);
  peers.grants.add(`${ids.integration} ${ids.retailer}`);
  peers.grants.add(`${ids.integration} ${ids.creditor}`);
  for (const [applicationId, retailerId] of [
    [ids.application, ids.retailer],
    [ids.otherApplication, ids.otherRetailer],
  ] as const) {
    peers.applications.set(applicationId, { applicationId, retailerId });
  }
  peers.submissions.set(`${ids.application} ${ids.creditor}`, []);
  peers.submissions.set(`${ids.otherApplication} ${ids.otherCreditor}`, []);
  return { ids, key, platformKey };
}
