/** Services mounted for people, browsers and curl: the Connect protocol over HTTP/1.1. */
import type { RequestListener, Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { DescMethod } from '@bufbuild/protobuf';
import { type ConnectRouter, createContextKey, type HandlerContext } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { closeHttpServer } from '@creditlane/runtime/close-http-server';
import {
  createLimitedServer,
  TIMEOUTS,
  type Timeouts,
  timeoutOptions,
} from '@creditlane/runtime/http/limited-server';
import { listen } from '@creditlane/runtime/listen';
import { REPLAYED } from '../call.ts';
import type { Certificates } from '../credentials/certificates.ts';
import { internal, toConnectError } from '../fault.ts';
import { type AdmittedCall, createProcedures, type Procedure } from '../procedure/procedure.ts';
import {
  DEFAULT_GRACE_PERIOD_MS,
  DEFAULT_MAX_REQUEST_BYTES,
  type ServerOptions,
} from '../server-options.ts';

/** People and their tools need some dozens. */
const MAX_CONNECTIONS = 1_024;

const ADMITTED = createContextKey<AdmittedCall | undefined>(undefined);

/**
 * Starts a server and resolves when it listens. `close` stops listening, closes idle connections at
 * once, and closes the others after their calls or after the grace period.
 */
export async function startHttpServer({
  port,
  host,
  routes,
  maxMessageBytes = DEFAULT_MAX_REQUEST_BYTES,
  gracePeriodMs = DEFAULT_GRACE_PERIOD_MS,
  certificates,
  timeouts = TIMEOUTS,
  ...deps
}: ServerOptions): Promise<{ url: string; port: number; close(): Promise<void> }> {
  const procedures = new Map<DescMethod, Procedure>(
    createProcedures(routes, deps).map((procedure) => [procedure.method, procedure]),
  );
  const serve = connectNodeAdapter({
    routes: (router) => addRoutes(router, procedures),
    requestGate: (context) => admit(procedures, context),
    // gRPC needs HTTP/2, and this port has HTTP/1.1 only.
    grpc: false,
    grpcWeb: false,
    readMaxBytes: maxMessageBytes,
    acceptCompression: [],
  });
  const server = openServer(certificates, timeouts, serve);
  const listening = await listen(server, { host, port });
  let closing: Promise<void> | undefined;
  return {
    url: `${certificates === undefined ? 'http' : 'https'}://${listening.authority}`,
    port: listening.port,
    close() {
      closing ??= closeHttpServer(server, gracePeriodMs);
      return closing;
    },
  };
}

function openServer(
  certificates: Certificates | undefined,
  timeouts: Timeouts,
  listener: RequestListener,
): Server {
  if (certificates === undefined) {
    const isAuthenticated = ({ statusCode }: { statusCode: number }) => statusCode === 200;
    const limits = { timeouts, maxConnections: MAX_CONNECTIONS, isAuthenticated };
    return createLimitedServer(limits).on('request', listener);
  }
  const server = createSecureServer(
    {
      ...timeoutOptions(timeouts),
      ...certificates.current,
      handshakeTimeout: timeouts.headMs,
      requestCert: true,
      rejectUnauthorized: true,
    },
    listener,
  );
  // Who has no certificate of the authority is cut after the handshake, so idle connections are of peers.
  server.maxConnections = MAX_CONNECTIONS;
  const unwatch = certificates.watch((pem) => server.setSecureContext(pem));
  server.once('close', unwatch);
  return server;
}

function addRoutes(router: ConnectRouter, procedures: ReadonlyMap<DescMethod, Procedure>): void {
  for (const procedure of procedures.values()) {
    router.rpc(procedure.method, async (request, context) => {
      const { value, replayed } = await procedure.answer(
        context.values.get(ADMITTED),
        () => request,
        (message) => message,
      );
      if (replayed) context.responseHeader.set(REPLAYED, 'true');
      return value;
    });
  }
}

/** Admits a call before a byte of its body is read. */
async function admit(
  procedures: ReadonlyMap<DescMethod, Procedure>,
  context: HandlerContext,
): Promise<void> {
  const procedure = procedures.get(context.method);
  if (procedure === undefined) throw toConnectError(internal());
  const admitted = await procedure.admit({
    metadata: (name) => context.requestHeader.get(name),
    timeoutMs: context.timeoutMs(),
    callerSignal: context.signal,
  });
  context.values.set(ADMITTED, admitted);
  // connect-node refuses a body that is too large or cannot be decoded, so `answer` never runs; the
  // signal aborts with the reason.
  context.signal.addEventListener('abort', () => {
    if (!admitted.answering) procedure.fail(admitted, context.signal.reason);
  });
}
