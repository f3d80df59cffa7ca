/** The typed client of a service, the same over every transport. */
import type {
  DescMessage,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import type { Closers } from '@creditlane/runtime/closers';
import type { HealthCheckRegistry } from '@creditlane/runtime/health';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { startSpan } from '@creditlane/runtime/telemetry/tracing';
import { AUTHORIZATION, IDEMPOTENCY_KEY, REPLAYED, REQUEST_ID, TRACEPARENT } from './call.ts';
import { type Endpoint, openTransport } from './endpoint.ts';
import { cancelled, deadlineExceeded, toFault } from './fault.ts';
import type { Identity, TokenSigner } from './identity.ts';
import { DEFAULT_TIMEOUT_MS } from './procedure/call-deadline.ts';
import { RETRY_OUTCOMES, type RetryObserver } from './retries/retries.ts';
import { qualifiedName, requireUnary } from './service.ts';

/** The caller in whose name a call is made, and what the call passes on. See `Call`. */
export type CallContext = {
  identity: Identity;
  requestId?: string | undefined;
  traceparent?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Milliseconds since the epoch. The call ends then, or after the client's timeout if sooner. */
  deadlineMs?: number | undefined;
  idempotencyKey?: string | undefined;
  /** Called when the answer is a stored answer of the idempotency key. */
  onReplayed?: (() => void) | undefined;
};

/** One function for each method; each rejects with a Fault only. */
export type Client<S extends DescService, Context = CallContext> = {
  [Name in keyof S['method']]: S['method'][Name] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, context: Context) => Promise<MessageShape<O>>
    : never;
};

export type ClientOptions = {
  signer: TokenSigner;
  /** The name of the called service, which is the audience of the tokens. */
  audience: string;
  timeoutMs?: number;
  /** Closes the client's connections with the process. */
  closers?: Closers;
  /** Gets a check that fails while the service cannot be reached. */
  health?: HealthCheckRegistry;
  /** Counts the retries. */
  metrics?: Metrics;
};

/** A client of `service` at `endpoint`. Connects at the first call, or at once with `health`. */
export function connect<S extends DescService>(
  service: S,
  endpoint: Endpoint,
  { signer, audience, timeoutMs = DEFAULT_TIMEOUT_MS, closers, health, metrics }: ClientOptions,
): Client<S> {
  const observe = metrics && countRetries(metrics, audience);
  const { unary, close, reachable } = openTransport(endpoint, observe);
  closers?.add(`client of ${audience}`, close);
  if (health !== undefined) {
    health.add(audience, () => reachable() || 'out of reach');
    // Connects, so that the first readiness probe finds the connection made.
    reachable();
  }

  const entries = service.methods.map((described) => {
    const method = requireUnary(described);
    const name = qualifiedName(method);
    const attributes = { 'rpc.service': service.typeName, 'rpc.method': method.name };
    const call = async (request: MessageInitShape<DescMessage>, context: CallContext) => {
      // One span for all attempts of the call.
      const span = startSpan(name, { kind: 'client', parent: context.traceparent, attributes });
      try {
        const token = await signer.sign(audience, context.identity);
        if (context.signal?.aborted) throw cancelled();
        const remainingMs = Math.min(timeoutMs, (context.deadlineMs ?? Infinity) - Date.now());
        if (remainingMs <= 0) throw deadlineExceeded();
        const sent = headersOf(token, span.traceparent, context);
        const { header, message } = await unary(method, context.signal, remainingMs, sent, request);
        if (context.onReplayed && header.get(REPLAYED) === 'true') context.onReplayed();
        span.end();
        return message;
      } catch (error) {
        const fault = toFault(error, true);
        span.end(fault.kind);
        throw fault;
      }
    };
    return [method.localName, call];
  });
  return Object.fromEntries(entries) as Client<S>;
}

function countRetries(metrics: Metrics, peer: string): RetryObserver {
  const help =
    'Calls that failed because their peer was unreachable and that could be retried, by whether they were retried.';
  const retries = metrics.counter('rpc_client_retries_total', help, ['peer', 'outcome']);
  // Each series starts at 0, so that the rate of its first increase is known.
  for (const outcome of RETRY_OUTCOMES) retries.inc({ peer, outcome }, 0);
  return (outcome) => retries.inc({ peer, outcome });
}

function headersOf(
  token: string,
  traceparent: string | undefined,
  context: CallContext,
): Record<string, string> {
  const headers: Record<string, string> = { [AUTHORIZATION]: `Bearer ${token}` };
  if (context.requestId !== undefined) headers[REQUEST_ID] = context.requestId;
  if (traceparent !== undefined) headers[TRACEPARENT] = traceparent;
  if (context.idempotencyKey !== undefined) headers[IDEMPOTENCY_KEY] = context.idempotencyKey;
  return headers;
}
