/** For the tests: a gRPC client by connect-node instead of grpc-js, which sends no identity token. */
import type { DescService } from '@bufbuild/protobuf';
import { type Client, createClient } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { onTestFinished } from 'vitest';

export function connectPlainClient<S extends DescService>(service: S, port: number): Client<S> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const sessionManager = new Http2SessionManager(baseUrl);
  onTestFinished(() => sessionManager.abort());
  return createClient(service, createGrpcTransport({ baseUrl, sessionManager }));
}
