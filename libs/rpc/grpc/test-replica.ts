/** For the tests: replicas of the decisions service behind gRPC, clients of several replicas, load. */
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import { Closers } from '@creditlane/runtime/closers';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { onTestFinished } from 'vitest';
import type { Call } from '../call.ts';
import { type CallContext, type Client, connect } from '../client.ts';
import { TokenSigner, TokenVerifier } from '../identity.ts';
import { fakeService } from '../test-fake-service.ts';
import { GET_DECISION, TEST_INTEGRATION, TEST_KEYS } from '../test-service.ts';
import { type GrpcServerOptions, startGrpcServer } from './server.ts';

type DecisionsClient = Client<typeof DecisionsService>;

/** The context of a call without an idempotency key. */
export const CONTEXT: CallContext = { identity: TEST_INTEGRATION };
/** A valid request of RecordDecision. */
export const RECORD_DECISION = { ...GET_DECISION, decision: { decision: 1 } };

const CONCURRENT_CALLS = 20;

export type TestReplica = {
  port: number;
  /** The calls that reached a handler of this replica. */
  handled: Call[];
  close(): Promise<void>;
};

type ReplicaOptions = Pick<
  Partial<GrpcServerOptions>,
  'port' | 'host' | 'maxConnectionAgeMs' | 'health' | 'reflection'
> & {
  /** Answers every call; by default with an empty message at once. */
  answer?: () => Promise<object>;
};

const { gateway } = TEST_KEYS;
const log = createLog('test', { level: 'silent' });
const verifier = new TokenVerifier({
  audience: 'decisions',
  trusted: { gateway: gateway.publicKey },
});

/** Starts a replica that closes with the test. */
export async function startTestReplica({
  port = 0,
  host = '127.0.0.1',
  answer = async () => ({}),
  ...options
}: ReplicaOptions = {}): Promise<TestReplica> {
  const handled: Call[] = [];
  const handle = (_request: unknown, call: Call) => {
    handled.push(call);
    return answer();
  };
  const handlers = { recordDecision: handle, getDecision: handle, listDecisions: handle };
  const routes = [fakeService(DecisionsService, handlers)];
  const deps = { verifier, log, metrics: new Metrics() };
  const server = await startGrpcServer({ port, host, routes, ...deps, ...options });
  onTestFinished(() => server.close());
  return { port: server.port, handled, close: server.close };
}

/** A client of all replicas at an address, as `openGrpcTransport` takes it. */
export function connectToAddress(address: string): DecisionsClient {
  const closers = new Closers();
  onTestFinished(() => closers.close());
  const signer = new TokenSigner({ issuer: 'gateway', privateKey: gateway.privateKey });
  const options = { signer, audience: 'decisions', timeoutMs: 10_000, closers };
  return connect(DecisionsService, { kind: 'grpc', address }, options);
}

/** A client of the replicas at these ports. */
export function connectToPorts(ports: readonly number[]): DecisionsClient {
  return connectToAddress(`ipv4:${ports.map((port) => `127.0.0.1:${port}`).join(',')}`);
}

/** Keeps 20 calls under way until `isEnough`; rejects with the first failed call. */
export async function callUntil(isEnough: () => boolean, call: () => Promise<unknown>) {
  const caller = async () => {
    while (!isEnough()) await call();
  };
  await Promise.all(Array.from({ length: CONCURRENT_CALLS }, caller));
}
