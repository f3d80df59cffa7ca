/** For the tests: replicas of one service behind gRPC, a client of them all, and a load of calls. */
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import { Closers } from '@creditlane/runtime/closers';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { onTestFinished } from 'vitest';
import type { Call } from '../call.ts';
import { type CallContext, type Client, connect } from '../client.ts';
import { TokenSigner, TokenVerifier } from '../identity.ts';
import { implement } from '../service.ts';
import { REQUEST, TEST_INTEGRATION, TEST_KEYS } from '../test-service.ts';
import { type GrpcServerOptions, startGrpcServer } from './server.ts';

export type Decisions = Client<typeof DecisionsService>;

/** What a call is made for, without a key; and a right request of RecordDecision. */
export const CONTEXT: CallContext = { identity: TEST_INTEGRATION };
export const RECORD = { ...REQUEST, decision: { decision: 1 } };

export type TestReplica = {
  port: number;
  /** The calls that reached a handler of it. */
  handled: Call[];
  close(): Promise<void>;
};

type ReplicaOptions = Pick<
  Partial<GrpcServerOptions>,
  'port' | 'host' | 'maxConnectionAgeMs' | 'health' | 'reflection'
> & {
  /** Answers every call; an empty message at once when left out. */
  answer?: () => Promise<object>;
};

const { gateway } = TEST_KEYS;
const log = createLog('test', { level: 'silent' });
const verifier = new TokenVerifier({
  audience: 'decisions',
  trusted: { gateway: gateway.publicKey },
});

/** Starts one more replica, for one test. */
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
  const routes = [implement(DecisionsService, handlers)];
  const around = { verifier, log, metrics: new Metrics() };
  const server = await startGrpcServer({ port, host, routes, ...around, ...options });
  onTestFinished(() => server.close());
  return { port: server.port, handled, close: server.close };
}

/** A client of all the addresses. */
export function clientOf(address: string): Decisions {
  const closers = new Closers();
  onTestFinished(() => closers.close());
  const signer = new TokenSigner({ issuer: 'gateway', privateKey: gateway.privateKey });
  const options = { signer, audience: 'decisions', timeoutMs: 10_000, closers };
  return connect(DecisionsService, { kind: 'grpc', address }, options);
}

export function clientOfPorts(ports: readonly number[]): Decisions {
  return clientOf(`ipv4:${ports.map((port) => `127.0.0.1:${port}`).join(',')}`);
}

/** Keeps twenty calls under way until `enough`; rejects with the first failure. */
export async function underLoad(call: () => Promise<unknown>, enough: () => boolean) {
  const caller = async () => {
    while (!enough()) await call();
  };
  await Promise.all(Array.from({ length: 20 }, caller));
}
