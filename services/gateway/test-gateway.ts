/** For tests: the gateway on a port of its own, the services in memory, and one caller of each kind. */
import { Caller } from '@creditlane/proto/common/v1/access';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import { startGrpcServer } from '@creditlane/rpc/grpc/server';
import { TokenSigner, TokenVerifier } from '@creditlane/rpc/identity';
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
import { requireDescribedAnswer } from './document/test-described-answers.ts';
import { COMPLETE, fakeApplicationsService } from './fake-services/test-applications-service.ts';
import { fakeConversationsService } from './fake-services/test-conversations-service.ts';
import { fakeCreditFileService } from './fake-services/test-credit-file-service.ts';
import { fakeDecisionsService } from './fake-services/test-decisions-service.ts';
import { fakeDeliveriesService } from './fake-services/test-deliveries-service.ts';
import { fakeIntegrationsService } from './fake-services/test-integrations-service.ts';
import { TestServices } from './fake-services/test-services.ts';
import type { Peer } from './peers.ts';
import { gateway as manifest } from './service.ts';
import type { GatewaySettings } from './settings.ts';

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

interface ServiceOptions {
  calls?: 'memory' | 'grpc';
}

/**
 * Starts the gateway with the default settings, except that keys and grants are not cached. The services
 * are called in memory or over gRPC.
 */
export async function startTestGateway(
  settings: Partial<GatewaySettings> = {},
  { calls = 'memory' }: ServiceOptions = {},
) {
  const lines: string[] = [];
  const log = createLog('gateway', { destination: { write: (line) => void lines.push(line) } });
  const process = { log, metrics: new Metrics(), closers: new Closers(), health: new Health() };
  const services = new TestServices();
  const env = { HOST: '127.0.0.1', PORT: '0', ACCESS_CACHE_TIME: '0ms' };
  const { own } = readSettings(env, localSettings(manifest));
  const { closeService, ...peers } = await mountServices(services, calls, process.closers);
  const { url, port } = await startGateway({
    settings: { ...own, ...settings },
    process,
    ...peers,
  });
  const { ids, key, platformKey } = populate(services);
  const decisionPath = `/v1/applications/${ids.application}/creditors/${ids.creditor}/decision`;
  const decision = () => ({ applicationId: ids.application, decision: 'BOOKED' });

  /** Sends a request with the integration's key, or another, or with none when `key` is empty. */
  async function send(method: string, path: string, request: Request = {}): Promise<Answer> {
    const { body, key: requestKey = key, headers = {} } = request;
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(requestKey !== '' && { authorization: `Bearer ${requestKey}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    requireDescribedAnswer(method, response, text);
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  }

  return {
    url,
    port,
    process,
    services,
    ids,
    key,
    platformKey,
    send,
    lines,
    decisionPath,
    /** The body of a decision on the integration's application. */
    decision,
    postDecision: (body: unknown = decision(), headers: Record<string, string> = {}) =>
      send('POST', decisionPath, { body, headers }),
    /** Ends a service that is called over gRPC. */
    closeService,
    close: () => process.closers.close(),
  };
}

/** Endpoints of the services, and a signer whose tokens they trust. */
async function mountServices(services: TestServices, calls: 'memory' | 'grpc', closers: Closers) {
  const keys = generateIdentityKeys();
  const servers = new Map<string, () => Promise<void>>();
  const mount = async (audience: string, routes: ServiceRoutes[]): Promise<Endpoint> => {
    const deps = {
      verifier: new TokenVerifier({ audience, trusted: { gateway: keys.publicKey } }),
      log: createLog(audience, { level: 'silent' }),
      metrics: new Metrics(),
    };
    if (calls === 'memory') {
      const mounted = mountInMemory(routes, deps);
      const unary: typeof mounted = (...call) => {
        services.peersCalled.add(audience);
        return mounted(...call);
      };
      return { kind: 'memory', unary };
    }
    const { port, close } = await startGrpcServer({ host: '127.0.0.1', port: 0, routes, ...deps });
    closers.add(audience, close);
    servers.set(audience, close);
    return { kind: 'grpc', address: `127.0.0.1:${port}` };
  };
  return {
    closeService: async (audience: Peer) => servers.get(audience)?.(),
    signer: new TokenSigner({ issuer: 'gateway', privateKey: keys.privateKey }),
    endpoints: {
      integrations: await mount('integrations', fakeIntegrationsService(services)),
      applications: await mount('applications', fakeApplicationsService(services)),
      conversations: await mount('conversations', fakeConversationsService(services)),
      'webhook-dispatcher': await mount('webhook-dispatcher', fakeDeliveriesService(services)),
      'credit-file': await mount('credit-file', fakeCreditFileService(services)),
      decisions: await mount('decisions', fakeDecisionsService(services)),
    },
  };
}

/** An integration with a grant on a retailer and a creditor, and a second tenant beside it. */
function populate(services: TestServices) {
  const ids = {
    integration: newId(),
    retailer: newId(),
    creditor: newId(),
    application: newId(),
    applicant: newId(),
    otherRetailer: newId(),
    otherCreditor: newId(),
    otherApplication: newId(),
    otherApplicant: newId(),
  };
  const key = services.issue(Caller.INTEGRATION, ids.integration);
  const permissions = ['MANAGE_INTEGRATIONS', 'MANAGE_DIRECTORY', 'READ_AUDIT'];
  const platformKey = services.issue(Caller.PLATFORM, newId(), permissions);
  services.grants.add(`${ids.integration} ${ids.retailer}`);
  services.grants.add(`${ids.integration} ${ids.creditor}`);
  services.retailers.set(ids.retailer, 'Harbour Motors');
  services.creditors.set(ids.creditor, 'First Prairie Finance');
  for (const [applicationId, retailerId, applicantId] of [
    [ids.application, ids.retailer, ids.applicant],
    [ids.otherApplication, ids.otherRetailer, ids.otherApplicant],
  ] as const) {
    const primaryApplicant = { ...COMPLETE.primaryApplicant, applicantId };
    services.applications.set(applicationId, { applicationId, retailerId, primaryApplicant });
  }
  services.submissions.set(`${ids.application} ${ids.creditor}`, []);
  services.submissions.set(`${ids.otherApplication} ${ids.otherCreditor}`, []);
  return { ids, key, platformKey };
}
