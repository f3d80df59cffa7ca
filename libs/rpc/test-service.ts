/** For the tests: three services behind one of the mounts, with signed tokens, and clients of them. */
import type { DescService } from '@bufbuild/protobuf';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import {
  AccessService,
  IntegrationsService,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { Closers } from '@creditlane/runtime/closers';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { onTestFinished } from 'vitest';
import type { Call } from './call.ts';
import { type Client, connect } from './client.ts';
import type { Certificates } from './credentials/certificates.ts';
import { generateIdentityKeys } from './credentials/identity-keys.ts';
import type { Endpoint } from './endpoint.ts';
import { Fault } from './fault.ts';
import { type GrpcServerOptions, startGrpcServer } from './grpc/server.ts';
import { startHttpServer } from './http/server.ts';
import { openHttpTransport } from './http/test-transport.ts';
import { type Identity, TokenSigner, TokenVerifier } from './identity.ts';
import { mountInMemory } from './memory/server.ts';
import type { ServerOptions } from './server-options.ts';
import { type Handlers, implement } from './service.ts';
import type { UnaryCall } from './transport.ts';

export const MOUNTS = ['memory', 'http', 'grpc'] as const;
export type Mount = (typeof MOUNTS)[number];

export const TEST_KEYS = {
  gateway: generateIdentityKeys(),
  applications: generateIdentityKeys(),
  stranger: generateIdentityKeys(),
};

export const TEST_INTEGRATION: Identity = {
  kind: 'integration',
  subject: '1d9ad7c1-9ab4-4a6b-8f43-6c8a3d0a8b52',
  permissions: ['DECIDE'],
  creditorId: '6a2f41a3-c54c-4c3e-9d7a-5f6f0d5a1b11',
};

/** A valid request of GetDecision. */
export const GET_DECISION = {
  applicationId: '0b9a3f0e-7a4e-4e57-9d4e-6a3b5a6f1c11',
  creditorId: '6a2f41a3-c54c-4c3e-9d7a-5f6f0d5a1b11',
};

export type TestServiceOptions = Partial<Handlers<typeof DecisionsService>> &
  Pick<
    Partial<ServerOptions>,
    'port' | 'maxMessageBytes' | 'gracePeriodMs' | 'certificates' | 'timeouts'
  > & {
    /** The timeout of the clients. */
    timeoutMs?: number;
    /** Of the gRPC server. */
    maxConnections?: number;
  };

export type TestService = {
  endpoint: Endpoint;
  /** The same with these certificates, or in plain text, over connections of its own. */
  endpointWith(certificates: Certificates | undefined): Endpoint;
  /** Of the server; 0 in memory. */
  port: number;
  closers: Closers;
  metrics: Metrics;
  /** The calls that reached a handler, in order. */
  handled: Call[];
  decisions: Client<typeof DecisionsService>;
  connectTo<S extends DescService>(service: S): Client<S>;
  /** All log entries. */
  logged(): Record<string, unknown>[];
  /** Closes the server and not the clients. */
  closeServer(): Promise<void>;
};

/**
 * Starts the services behind `mount`; they close with the test. Every handler that `options` leaves out
 * records the call in `handled` and answers with an empty message.
 */
export async function startTestService(
  mount: Mount,
  options: TestServiceOptions = {},
): Promise<TestService> {
  const {
    port = 0,
    maxMessageBytes,
    gracePeriodMs,
    certificates,
    timeouts,
    maxConnections,
    timeoutMs = 10_000,
    ...handlers
  } = options;
  const closers = new Closers();
  const metrics = new Metrics();
  const lines: string[] = [];
  const log = createLog('test', {
    level: 'debug',
    destination: { write: (line) => lines.push(line) },
  });
  const { gateway, applications } = TEST_KEYS;
  const verifier = new TokenVerifier({
    audience: 'decisions',
    trusted: { gateway: gateway.publicKey, applications: applications.publicKey },
  });
  const handled: Call[] = [];
  const record = async (_request: unknown, call: Call) => {
    handled.push(call);
    return {};
  };
  const recordAll = <S extends DescService>(service: S): Handlers<S> =>
    Object.fromEntries(service.methods.map(({ localName }) => [localName, record])) as Handlers<S>;
  const routes = [
    implement(DecisionsService, { ...recordAll(DecisionsService), ...handlers }),
    implement(IntegrationsService, recordAll(IntegrationsService)),
    implement(AccessService, recordAll(AccessService)),
  ];
  const server = await openMount(mount, {
    port,
    host: '127.0.0.1',
    routes,
    verifier,
    log,
    metrics,
    certificates,
    ...(maxMessageBytes !== undefined && { maxMessageBytes }),
    ...(gracePeriodMs !== undefined && { gracePeriodMs }),
    ...(timeouts !== undefined && { timeouts }),
    ...(maxConnections !== undefined && { maxConnections }),
  });
  closers.add('server', server.close);
  onTestFinished(() => closers.close());
  const endpointWith = (own?: Certificates) => openEndpoint(mount, server, closers, own);
  const endpoint = endpointWith(certificates);

  const signer = new TokenSigner({ issuer: 'gateway', privateKey: gateway.privateKey });
  const connectTo = <S extends DescService>(service: S) =>
    connect(service, endpoint, { signer, audience: 'decisions', timeoutMs, closers });
  return {
    endpoint,
    endpointWith,
    port: server.port,
    closers,
    metrics,
    handled,
    decisions: connectTo(DecisionsService),
    connectTo,
    logged: () => lines.map((line) => JSON.parse(line)),
    closeServer: server.close,
  };
}

interface OpenMount {
  port: number;
  /** In memory. */
  unary?: UnaryCall;
  close(): Promise<void>;
}

async function openMount(mount: Mount, options: GrpcServerOptions): Promise<OpenMount> {
  if (mount === 'http') return startHttpServer(options);
  if (mount === 'grpc') return startGrpcServer(options);
  const { routes, ...rest } = options;
  return { port: 0, unary: mountInMemory(routes, rest), close: async () => {} };
}

function openEndpoint(
  mount: Mount,
  { port, unary }: OpenMount,
  closers: Closers,
  certificates?: Certificates,
): Endpoint {
  if (unary !== undefined) return { kind: 'memory', unary };
  const address = `127.0.0.1:${port}`;
  if (mount === 'grpc') return { kind: 'grpc', address, certificates };
  const http = openHttpTransport(`${certificates ? 'https' : 'http'}://${address}`, certificates);
  closers.add('HTTP transport', http.close);
  return { kind: 'memory', unary: http.unary };
}

/** The Fault with which a call fails. Throws an Error when the call succeeds. */
export async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Fault) return outcome;
  throw new Error('the call did not fail with a Fault', { cause: outcome });
}
